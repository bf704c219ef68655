# 20: a client with four busy channels that is stopped for 60 s (until nothing moves, in the short form) loses nothing
needs python3
at=$(ssh devbox 'mktemp -d')
there writer.py "$at"
env ssh -F "$config" -M -S "$dir/m" -N devbox 2>/dev/null &
master=$!
within test -S "$dir/m"
noise 16000000 >"$dir/f"
# The channels are there before the client stops, and go on when they are told.
for n in 1 2; do
  env ssh -F "$config" -S "$dir/m" devbox "touch $at/down$n; until [ -e $at/go ]; do sleep 0.05; done; exec python3 $at/writer.py 24 $at/n$n" >"$dir/down$n" &
  downs="${downs-} $!"
  env ssh -F "$config" -S "$dir/m" devbox "touch $at/up$n; exec python3 -c 'import hashlib, os, sys
import time
while not os.path.exists(\"$at/go\"): time.sleep(0.05)
digest = hashlib.sha1()
for part in iter(lambda: os.read(0, 65536), b\"\"): digest.update(part)
print(digest.hexdigest())'" <"$dir/f" >"$dir/up$n" &
  ups="${ups-} $!"
done
within ssh devbox "test -e $at/up1 && test -e $at/up2 && test -e $at/down1 && test -e $at/down2"
kill -STOP "$master"
ssh devbox "touch $at/go"
stalls "$at/n1"
stalls "$at/n2"
pause 60
kill -CONT "$master"
for each in $downs $ups; do wait "$each"; done
for n in 1 2; do
  same "done $(sha1sum <"$dir/down$n" | cut -d' ' -f1)" "$(ssh devbox "tail -n 1 $at/n$n")"
  same "$(cat "$dir/up$n")" "$(sha1sum <"$dir/f" | cut -d' ' -f1)"
done
ssh devbox "rm -r $at"
