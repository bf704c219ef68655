# 3: a shell without a terminal reads its standard input
status sh -c 'echo "echo hi; exit 3" | ssh -F "$config" -T devbox' >"$dir/o"
same "$code $(cat "$dir/o")" "3 hi"
