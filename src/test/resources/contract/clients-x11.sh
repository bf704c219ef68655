# clients: X11 is refused, which the client says, and its command runs
same "$(DISPLAY=:9 ssh -Y devbox 'echo $DISPLAY here' 2>"$dir/e")" here
grep -q 'X11 forwarding request failed on channel 0' "$dir/e"
