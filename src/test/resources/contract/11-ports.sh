# 11, 12: forwards: -L, -D, -R to any port, and a port that is refused; a server that speaks first, and half-close
needs python3
at=$(ssh devbox 'mktemp -d')
serve "$at" speaker.py
here=$(free)
refused=$(free)
socks=$(free)
env ssh -F "$config" -N -L "$here:127.0.0.1:$port" -L "$refused:127.0.0.1:1" -D "$socks" devbox 2>/dev/null &
within python3 "$programs/ask.py" "$here"
same "$(python3 "$programs/ask.py" "$here")" "hello 100000"
same "$(python3 -c "import socket; s = socket.create_connection(('127.0.0.1', $refused)); print(len(s.recv(1)))")" 0
same "$(python3 "$programs/ask.py" "$port" "$socks")" "hello 100000"
python3 "$programs/speaker.py" >"$dir/port" &
within test -s "$dir/port"
env ssh -F "$config" -N -R "0:127.0.0.1:$(cat "$dir/port")" devbox 2>"$dir/r" &
within grep -q 'Allocated port' "$dir/r"
remote=$(sed -n 's/.*Allocated port \([0-9]*\).*/\1/p' "$dir/r")
there ask.py "$at"
same "$(ssh devbox "python3 $at/ask.py $remote")" "hello 100000"
cleared "$at"
