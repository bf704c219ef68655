# Becomes the relay, with the first Python found. Fixed text, as probe.sh. That this Python works was checked when the agent
# started; if it no longer does, the loader reports that.
# Called as:  sh -c '<this text>' sh '<text of relay.py>' '<name of the agent's folder>' python3 python ...
relay=$1
name=$2
shift 2
for python in "$@"; do
  path=$(command -v "$python" 2>/dev/null) && [ -x "$path" ] && [ ! -d "$path" ] || continue
  GPUSH_AGENT=$$ exec "$python" -I -S -B -X utf8 -u -c "$relay" "$name"
done
echo '{"code": "no-python", "facts": {}}' >&2
exit 97
