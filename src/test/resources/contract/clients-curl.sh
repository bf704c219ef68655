# clients: libssh2, as curl has it: a file both ways
needs_here curl
at=$(ssh devbox 'mktemp -d')
noise 5000000 >"$dir/f"
curl() { command curl -sS --insecure --key "$key" --pubkey "$key.pub" "$@" "sftp://devbox@127.0.0.1:$(gateway)$at/f"; }
curl -T "$dir/f"
curl -o "$dir/g"
cmp "$dir/f" "$dir/g"
ssh devbox "rm -r $at"
