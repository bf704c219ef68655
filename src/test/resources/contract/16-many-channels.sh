# 16: 60 commands and 200 connections at once over one connection
needs python3
at=$(ssh devbox 'mktemp -d')
serve "$at" speaker.py
socks=$(free)
env ssh -F "$config" -M -S "$dir/m" -N -D "$socks" devbox 2>/dev/null &
within test -S "$dir/m"
python3 "$programs/ask.py" "$port" "$socks" 200 >"$dir/connections" &
connections=$!
for n in $(seq 60); do
  { ssh -S "$dir/m" devbox "echo $n" >"$dir/$n.out"; } &
  commands="${commands-} $!"
done
for each in $commands "$connections"; do wait "$each"; done
same "$(cat "$dir"/*.out | sort -n | tr '\n' ' ')" "$(seq 60 | tr '\n' ' ')"
same "$(cat "$dir/connections")" "hello 100000"
ssh -S "$dir/m" -O exit devbox 2>/dev/null
cleared "$at"
