# 21: idle for 30 minutes (for as long as the other tests run, in the short form): all works on
# around
needs python3
at=$(ssh devbox 'mktemp -d')
there echo.py "$at"
mkfifo "$dir/in" "$dir/tty"
env ssh -F "$config" -T devbox cat <"$dir/in" >"$dir/out" &
exec 7>"$dir/in"
env ssh -F "$config" -tt devbox "stty -echo; cat" <"$dir/tty" >"$dir/screen" 2>/dev/null &
exec 8>"$dir/tty"
serve "$at" echo.py
here=$(free)
env ssh -F "$config" -N -L "$here:127.0.0.1:$port" devbox &
within python3 -c "import socket; s = socket.create_connection(('127.0.0.1', $here)); s.sendall(b'x'); assert s.recv(1)"
python3 -c "import socket, sys
s = socket.create_connection(('127.0.0.1', $here))
s.sendall(b'before'); assert s.recv(6) == b'before'
open('$dir/open', 'w').close()
sys.stdin.read()
s.sendall(b'after'); assert s.recv(5) == b'after'" < <(until [ -e "$others" ]; do sleep 0.2; done; pause 1800) &
forward=$!
within test -e "$dir/open"
echo one >&7
echo one >&8
within grep -q one "$dir/out"
within grep -q one "$dir/screen"
until [ -e "$others" ]; do sleep 0.2; done
pause 1800
echo two >&7
echo two >&8
within grep -q two "$dir/out"
within grep -q two "$dir/screen"
wait "$forward"
cleared "$at"
