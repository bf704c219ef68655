# 17: new keys every 1 MB over 100 MB (25 MB in the short form)
megabytes=25
[ -z "$long" ] || megabytes=100
noise "${megabytes}000000" >"$dir/f"
ssh -o RekeyLimit=1M devbox cat <"$dir/f" | cmp - "$dir/f"
