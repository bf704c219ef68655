# 19: a reader that stops for 60 s (until nothing moves, in the short form) loses nothing, and holds up nothing else
needs python3
at=$(ssh devbox 'mktemp -d')
there writer.py "$at"
mkfifo "$dir/pipe"
env ssh -F "$config" devbox "python3 $at/writer.py 48 $at/n" >"$dir/pipe" &
exec 8<"$dir/pipe"
stalls "$at/n"
[ "$(ssh devbox "head -n 1 $at/n")" -lt 48000000 ]
pause 60
sha1sum <&8 >"$dir/sum"
within ssh devbox "grep -q done $at/n"
same "done $(cut -d' ' -f1 "$dir/sum")" "$(ssh devbox "tail -n 1 $at/n")"
ssh devbox "rm -r $at"
