# 4: 50 MB both ways, and the end of input
noise 50000000 >"$dir/f"
ssh devbox 'cat; echo eof' <"$dir/f" >"$dir/g"
echo eof >>"$dir/f"
cmp "$dir/f" "$dir/g"
