# Becomes the relay, with the first Python that there is. Fixed text, as probe.sh; whether that Python is any good was
# found out when the agent started, and if it is none any more the loader says so.
# Called as:  sh -c '<this text>' sh '<text of relay.py>' '<name of the agent's folder>' python3 python ...
relay=$1
name=$2
shift 2
for python in "$@"; do
  path=$(command -v "$python" 2>/dev/null) && [ -x "$path" ] && [ ! -d "$path" ] || continue
  GPUSH_AGENT=$$ exec "$python" -I -S -B -X utf8 -u -c "$relay" "$name"
done
exit 97
