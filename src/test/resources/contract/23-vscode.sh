# 23: as VS Code comes in: a script that never ends, scp beside it, four websockets through SOCKS, a socket
needs bash python3
socks=$(free)
cat >"$dir/script" <<'END'
echo "mark: running"
at=$(mktemp -d)
printf '%s\n' "shell==$$==" "at==$at=="
until [ -e "$at/done" ]; do sleep 0.1; done
nohup python3 "$at/websockets.py" serve 0 >"$at/port" 2>/dev/null </dev/null &
nohup python3 "$at/websockets.py" serve "$at/socket" >"$at/bound" 2>/dev/null </dev/null &
until [ -s "$at/port" ] && [ -s "$at/bound" ]; do sleep 0.1; done
printf '%s\n' "mark: start" "listeningOn==$(cat "$at/port")==" "pids==$(jobs -p | tr '\n' ' ')==" "mark: end"
while :; do printf ' '; sleep 1; done
END
mkfifo "$dir/in"
env ssh -F "$config" -T -D "$socks" devbox bash <"$dir/in" >"$dir/o" 2>/dev/null &
client=$!
exec 6>"$dir/in"
cat "$dir/script" >&6
said() { sed -n "s/^$1==\(.*\)==$/\1/p" "$dir/o"; }
within grep -q '^at==' "$dir/o"
at=$(said at)
touch "$dir/done"
scp "$programs/websockets.py" "devbox:$at/websockets.py"
scp "$dir/done" "devbox:$at/done"
within grep -q '^mark: end' "$dir/o"
for n in 1 2 3 4; do
  python3 "$programs/websockets.py" ask "$(said listeningOn)" "$socks" >"$dir/$n.said" &
  asked="${asked-} $!"
done
env ssh -F "$config" -N -L "$dir/s:$at/socket" devbox 2>/dev/null &
within test -S "$dir/s"
python3 "$programs/websockets.py" ask "$dir/s" >"$dir/5.said"
for each in $asked; do wait "$each"; done
same "$(cat "$dir"/*.said | sort -u)" "200 messages"
kill "$client"
within ssh devbox "! kill -0 $(said shell) 2>/dev/null"
ssh devbox "kill $(said pids); rm -r $at"
