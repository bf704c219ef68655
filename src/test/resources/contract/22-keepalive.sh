# 22: a client that asks whether we live is answered
mkfifo "$dir/in"
env ssh -vvv -F "$config" -o ServerAliveInterval=1 -o ServerAliveCountMax=60 devbox 'read -r _; echo there' <"$dir/in" >"$dir/out" 2>"$dir/err" &
client=$!
exec 7>"$dir/in"
# Request success or failure: one may be for the host keys, so the third is at least a second answer to a question.
answered() { [ "$(grep -c 'receive packet: type 8[12]' "$dir/err")" -ge 3 ]; }
within answered
echo >&7
exec 7>&-
status wait "$client"
same "$code $(cat "$dir/out")" '0 there'
