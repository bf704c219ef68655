# clients: Dropbear's dbclient: streams, status, input
needs_here dbclient dropbearconvert
dropbearconvert openssh dropbear "$key" "$dir/key" 2>/dev/null
dropbear() { dbclient -y -i "$dir/key" -p "$(gateway)" devbox@127.0.0.1 "$@" 2>"$dir/e"; }
status dropbear 'echo out; echo err >&2; exit 7' >"$dir/o"
same "$code $(cat "$dir/o")" "7 out"
grep -qx err "$dir/e"
noise 1000000 >"$dir/f"
# Into a file: a dbclient whose reader is late when the channel closes waits for ever, with any server.
dropbear cat <"$dir/f" >"$dir/g"
cmp "$dir/f" "$dir/g"
