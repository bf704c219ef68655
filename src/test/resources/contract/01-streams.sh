# 1: streams are apart and the status is the command's
status ssh devbox 'echo o; echo e >&2; exit 7' >"$dir/o" 2>"$dir/e"
same "$code $(cat "$dir/o") $(cat "$dir/e")" "7 o e"
