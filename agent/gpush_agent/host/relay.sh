# Becomes the relay, with the first Python found. Fixed text, as probe.sh. That this Python works was checked when the agent
# started; if it no longer does, the loader reports that.
# Called as:  sh -c '<this text>' sh '<text of relay.py>' '<name of the agent's folder>' wait=<seconds> python3 python ...
# It waits so long for an agent that does not run yet.
relay=$1
name=$2
wait=$3
shift 3
for python in "$@"; do
  path=$(command -v "$python" 2>/dev/null) && [ -x "$path" ] && [ ! -d "$path" ] || continue
  GPUSH_AGENT=$$ exec "$python" -I -S -B -X utf8 -u -c "$relay" "$name" "$wait"
done
echo '{"code": "no-python", "facts": {}}' >&2
exit 97
