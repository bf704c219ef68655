# 27: as Zed comes in: probes, a server by sftp, and its protocol over one command
env ssh -F "$config" -N -o ControlMaster=yes -o ControlPersist=no -o "ControlPath=$dir/m" devbox &
within test -S "$dir/m"
zed() { ssh -o ControlMaster=no -o "ControlPath=$dir/m" -T devbox "cd; $1"; }
status zed 'cmd /c ver' 2>/dev/null
[ "$code" -gt 0 ]
zed 'uname -sm' | grep -q '^Linux '
zed "sh -c 'echo \$SHELL'" | grep -q '^/'
printf '#!/bin/sh\necho log >&2\nexec cat\n' >"$dir/server"
name=$(zed pwd)/.contract-$$
printf 'put %s %s\n' "$dir/server" "$name" | sftp -q -b - -o "ControlPath=$dir/m" -F "$config" devbox >/dev/null
zed "chmod 755 $name"
noise 2000000 >"$dir/f"
zed "exec $name proxy" <"$dir/f" 2>"$dir/log" | cmp - "$dir/f"
same "$(cat "$dir/log")" log
zed "rm $name"
