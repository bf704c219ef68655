# 18: compression is asked for, and the bytes are the same
noise 1000000 >"$dir/f"
ssh -C devbox cat <"$dir/f" | cmp - "$dir/f"
