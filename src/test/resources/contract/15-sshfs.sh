# 15: sshfs: random work of four threads on files there and here is the same, also when it is mounted again
needs_here sshfs fusermount3
[ -w /dev/fuse ] || skip "there is no /dev/fuse"
at=$(ssh devbox 'mktemp -d')
mkdir "$dir/m" "$dir/here"
trap 'cd /; fusermount3 -uz "$dir/m" 2>/dev/null || true; kill $(jobs -p) 2>/dev/null || true; rm -rf --one-file-system "$dir"' EXIT
printf '#!/bin/sh\necho $$ >"%s/client"\nexec ssh -F "%s" "$@"\n' "$dir" "$config" >"$dir/ssh"
chmod 755 "$dir/ssh"
mounted() { sshfs -o "ssh_command=$dir/ssh" "devbox:$at" "$dir/m"; }
mounted
python3 "$programs/exercise.py" "$dir/m" "$dir/here" "${long:+2000}"
cd "$dir/m"
own='-c safe.directory=*' # the node's user may be another one
git $own init -q -b main . && git $own -c user.name=me -c user.email=me@example.org add . && rm -rf .git
cd /
fusermount3 -u "$dir/m"
mounted
diff -r --no-dereference "$dir/here" "$dir/m"
# Its connection ends: so does the mount, or it says errors; nothing hangs.
kill -9 "$(cat "$dir/client")"
within sh -c '! mountpoint -q "$1"' sh "$dir/m"
fusermount3 -uz "$dir/m" 2>/dev/null || true
ssh devbox "rm -rf $at"
