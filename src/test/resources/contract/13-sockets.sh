# 13: a socket file of the node, and one there that leads here; one that was left behind is replaced
needs python3
python3 "$programs/speaker.py" >"$dir/port" &
within test -s "$dir/port"
at=$(ssh devbox 'mktemp -d')
left() { ssh devbox "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"$at/s\")'"; }
left
env ssh -F "$config" -N -R "$at/s:127.0.0.1:$(cat "$dir/port")" devbox &
far=$!
here=$(free)
env ssh -F "$config" -N -L "$here:$at/s" devbox 2>/dev/null &
within python3 "$programs/ask.py" "$here"
same "$(python3 "$programs/ask.py" "$here")" "hello 100000"
kill -9 "$far"
within ssh devbox "! test -e $at/s"
left
env ssh -F "$config" -N -R "$at/s:127.0.0.1:$(cat "$dir/port")" devbox &
within python3 "$programs/ask.py" "$here"
ssh devbox "rm -r $at"
