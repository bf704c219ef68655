# 15: sftp, scp, rsync and a download whose clients are killed in the middle leave nothing that runs
at=$(ssh devbox 'mktemp -d')
grows() { [ "$(ssh devbox "stat -c %s $at/$1 2>/dev/null || echo 0")" -gt "${2:-0}" ]; }
# The name is the standard input, or the search itself would be found.
forgotten() {
  echo "$at/$1" | ssh devbox 'name=$(cat); echo "$name" | grep -qsF -f - /proc/[0-9]*/cmdline && exit 1; ! readlink /proc/[0-9]*/fd/* 2>/dev/null | grep -qxF "$name"'
}
truncate -s 40G "$dir/huge"
env scp -q -F "$config" "$dir/huge" "devbox:$at/by-sftp" 2>/dev/null &
by_sftp=$!
within grows by-sftp
kill -9 "$by_sftp"
within forgotten by-sftp
if ssh devbox 'command -v scp' >/dev/null; then
  env scp -q -O -F "$config" "$dir/huge" "devbox:$at/by-scp" 2>/dev/null &
  by_scp=$!
  within grows by-scp
  kill -9 "$by_scp"
  within forgotten by-scp
fi
if command -v rsync >/dev/null && ssh devbox 'command -v rsync' >/dev/null; then
  env rsync --inplace --whole-file -e "ssh -F $config" "$dir/huge" "devbox:$at/by-rsync" 2>/dev/null &
  by_rsync=$!
  within grows by-rsync
  kill -9 "$by_rsync"
  within forgotten by-rsync
fi
ssh devbox "truncate -s 40G $at/down"
env scp -q -F "$config" "devbox:$at/down" "$dir/down" 2>/dev/null &
download=$!
within test -s "$dir/down"
kill -9 "$download"
within forgotten down
ssh devbox "rm -r $at"
