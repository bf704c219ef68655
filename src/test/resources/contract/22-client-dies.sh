# 22: a client that is killed: what it had connected is closed, what it ran without a terminal loses its pipes
needs python3
at=$(ssh devbox 'mktemp -d')
serve "$at" echo.py
here=$(free)
env ssh -F "$config" -L "$here:127.0.0.1:$port" devbox "echo \$\$ >$at/pid; exec cat" <&9 >/dev/null 2>&1 &
client=$!
python3 -c "import socket, time
while True:
    try:
        s = socket.create_connection(('127.0.0.1', $here))
        break
    except OSError:
        time.sleep(0.05)
s.sendall(b'x'); assert s.recv(1)
open('$dir/open', 'w').close()
assert s.recv(1) == b''" 2>/dev/null &
within test -e "$dir/open"
within ssh devbox "test -s $at/pid"
kill -9 "$client"
within ssh devbox "grep -q end $at/ended && ! kill -0 \$(cat $at/pid) 2>/dev/null"
cleared "$at"
