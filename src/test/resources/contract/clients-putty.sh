# clients: PuTTY's plink and psftp: streams, status, a file both ways
needs_here plink psftp puttygen
puttygen "$key" -o "$dir/key.ppk" -O private
fingerprint=$(ssh-keygen -lf "$host_key" | cut -d' ' -f2)
set -- -batch -hostkey "$fingerprint" -i "$dir/key.ppk" -P "$(gateway)"
status plink "$@" devbox@127.0.0.1 'echo out; echo err >&2; exit 7' >"$dir/o" 2>"$dir/e"
same "$code $(cat "$dir/o")" "7 out"
grep -qx err "$dir/e"
noise 3000000 >"$dir/f"
at=$(ssh devbox 'mktemp -d')
printf 'put %s %s\nget %s %s\nquit\n' "$dir/f" "$at/sent" "$at/sent" "$dir/g" >"$dir/b"
psftp -b "$dir/b" "$@" devbox@127.0.0.1 >/dev/null
cmp "$dir/f" "$dir/g"
ssh devbox "rm -r $at"
