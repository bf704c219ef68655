# Picks the first usable Python and becomes the loader. Fixed text: nothing is ever substituted into it.
# Called as:  sh -c '<this text>' sh '<text of loader.py>' python3 python /opt/conda/bin/python3 ...
# The interpreters are positional parameters, so none of them is ever parsed by a shell again.
# -X utf8: names and texts are UTF-8 whatever the locale (3.6 ignores it). GPUSH_AGENT tells agents apart, see
# core/processes.py; the gateway sets it to any other value for itself, so that no node's release ever ends a gateway.
# Exit 97: none was found; 98: all that were found are older than 3.6; the last line on stderr says it as JSON.
loader=$1
shift
found=
for python in "$@"; do
  # dash names a path whether it can be executed or not
  path=$(command -v "$python" 2>/dev/null) && [ -x "$path" ] && [ ! -d "$path" ] || continue
  found=$python
  "$python" -I -S -B -c 'import sys, fcntl, json, select, selectors, signal, socket, struct, termios, zlib
sys.exit(sys.version_info < (3, 6))' </dev/null >/dev/null 2>&1 || continue
  GPUSH_AGENT=$$ exec "$python" -I -S -B -X utf8 -u -c "$loader"
done
if [ -n "$found" ]; then
  echo '{"code": "python-too-old", "facts": {}}' >&2
  exit 98
fi
echo '{"code": "no-python", "facts": {}}' >&2
exit 97
