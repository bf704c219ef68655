# clients: JSch 0.1.55, of its first author: it has none of our key exchanges and no Ed25519, so it needs `legacy`
# kinds: local
# alone
needs_rig
needs python3
at=$(ssh devbox 'mktemp -d')
serve "$at" echo.py
ssh-keygen -q -t ecdsa -m PEM -N '' -C old -f "$dir/key"
(umask 077; cp "$dir/key.pub" "$GPUSH_HOME/authorized_keys")
old() { # KIND_OF_HOST_KEY
  echo "[127.0.0.1]:$(gateway) $(cat "$GPUSH_HOME/keys/ssh_host_$1_key.pub")" >"$dir/known_hosts"
  "$java" -cp "$rig/jars/jsch-old/*" "$clients/JschClient.java" "$(gateway)" devbox "$dir/key" "$dir/known_hosts" "$port"
}
status old ed25519 >"$dir/o" 2>&1
[ "$code" -gt 0 ]
grep -q 'Algorithm negotiation fail' "$dir/o"
"$gpush" gateway stop >/dev/null 2>&1
echo 'gateway: {compatibility: legacy}' >"$GPUSH_HOME/config.yaml"
within ssh devbox true
says_all old ecdsa
"$gpush" gateway stop >/dev/null 2>&1
rm "$GPUSH_HOME/config.yaml" "$GPUSH_HOME/authorized_keys"
within ssh devbox true
cleared "$at"
