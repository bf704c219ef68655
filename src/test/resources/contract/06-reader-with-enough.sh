# 6: a reader that has enough ends the command
ssh devbox 'echo $$ >yes.pid; exec yes' | head -1 >"$dir/o" || true
same "$(cat "$dir/o")" y
within ssh devbox '! kill -0 $(cat yes.pid)'
ssh devbox 'rm yes.pid'
