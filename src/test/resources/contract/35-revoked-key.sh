# 35: a key that is removed ends its open connections, with the reason, and opens no other
ssh-keygen -q -t ed25519 -N '' -C contract -f "$dir/key"
(umask 077; cat "$dir/key.pub" >"$GPUSH_HOME/authorized_keys")
sed "s|^\( *\)IdentityFile .*|\1IdentityFile $dir/key|" "$config" >"$dir/config"
within env ssh -F "$dir/config" devbox true
env ssh -F "$dir/config" devbox "echo there; exec sleep 600" >"$dir/out" 2>"$dir/err" &
client=$!
within grep -q there "$dir/out"
rm "$GPUSH_HOME/authorized_keys"
status wait "$client"
same "$code" 255
grep -q 'may no longer log in' "$dir/err"
status env ssh -F "$dir/config" devbox true 2>"$dir/refused"
same "$code" 255
grep -q 'Permission denied (publickey)' "$dir/refused"
