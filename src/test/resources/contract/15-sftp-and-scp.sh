# 15: sftp and scp, and a file that was sent is the same
noise 3000000 >"$dir/f"
at=$(ssh devbox 'mktemp -d')
printf 'put %s %s\nget %s %s\n' "$dir/f" "$at/f" "$at/f" "$dir/g" >"$dir/b"
sftp -q -b "$dir/b" -F "$config" devbox >/dev/null
cmp "$dir/f" "$dir/g"
scp "$dir/f" "devbox:$at/g"
scp "devbox:$at/g" "$dir/h"
cmp "$dir/f" "$dir/h"
ssh devbox "rm -r $at"
