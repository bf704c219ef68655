# Picks the first usable Python and becomes the loader. Fixed text: nothing is ever substituted into it.
# Called as:  sh -c '<this text>' sh '<text of loader.py>' python3 python /opt/conda/bin/python3 ...
# A container has it as a file, and gives it a text that opens the files with the loader and its input.
# The interpreters are positional parameters, so a shell never parses them again.
# -X utf8: names and texts are UTF-8 whatever the locale (3.6 ignores it). GPUSH_AGENT marks the processes of an agent, see
# core/processes.py; the gateway sets it to another value for itself, so that releasing a node never ends a gateway.
# Exit 97: none was found, or none works; 98: one was found that is older than 3.6. The last line on stderr is JSON.
# Before that the input is read to its end: a connection that is closed with unread bytes loses the line.
loader=$1
shift
found=
old=
for python in "$@"; do
  # dash also names a path that cannot be executed.
  path=$(command -v "$python" 2>/dev/null) && [ -x "$path" ] && [ ! -d "$path" ] || continue
  found=1
  # The loader checks that all can be loaded. To do so here, too, would take longer than the start of Python itself.
  if "$python" -I -S -B -c 'import sys, fcntl, select, termios, zlib, _socket, _struct
sys.exit(sys.version_info < (3, 6) or not all(any(finder.find_spec(name) for finder in sys.meta_path)
  for name in ("json", "selectors", "signal", "socket", "struct")))' </dev/null >/dev/null 2>&1; then
    GPUSH_AGENT=$$ exec "$python" -I -S -B -X utf8 -u -c "$loader"
  fi
  # Python 2 does not know -I. Only a version may get into the answer.
  version=$("$python" -E -S -B -c 'import sys
if sys.version_info < (3, 6): sys.stdout.write(".".join(map(str, sys.version_info[:3])))' </dev/null 2>/dev/null)
  case $version in
    '' | *[!0-9.]*) ;;
    *) old=$version ;;
  esac
done
ends() {
  if command -v cat >/dev/null 2>&1; then
    cat >/dev/null 2>&1
  fi
  exit "$1"
}
if [ -n "$old" ]; then
  echo '{"code": "python-too-old", "facts": {"found": "'"$old"'"}}' >&2
  ends 98
fi
if [ -n "$found" ]; then
  echo '{"code": "python-broken", "facts": {}}' >&2
else
  echo '{"code": "no-python", "facts": {}}' >&2
fi
ends 97
