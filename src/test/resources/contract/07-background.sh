# 7: a process in the background is not waited for, and lives on
pid=$(ssh devbox 'nohup sleep 300 >/dev/null 2>&1 </dev/null & echo $!')
ssh devbox "kill -0 $pid && kill $pid"
