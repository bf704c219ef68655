# Gives the standard input and output of this command to the agent, which then reads and writes them itself: no Python is
# started, and nothing copies. Where the agent cannot take them this becomes relay.py.
# Fixed text, as probe.sh. Called as:
#   sh -c '<this text>' sh '<text of relay.py>' '<name of the agent's folder>' <seconds> python3 python ...
# It waits this long for an agent that does not run yet. Exit 94: no agent runs; 97: there is no Python for relay.py.
# The other side of this is handover.py. This process stays until the agent has closed the streams, because the end of the
# command is the end of the pipe.
relay=$1
name=$2
seconds=$3
shift 3

# Sets folder and fifo. Fails when no agent takes streams; then `there` says whether one has at least a socket.
find_agent() {
  there=
  for base in /tmp /var/tmp /dev/shm; do
    for folder in "$base"/gpush-*/"$name"; do
      user=${folder%/*}
      [ -d "$folder" ] && [ -O "$folder" ] && [ ! -h "$folder" ] && [ -O "$user" ] && [ ! -h "$user" ] || continue
      [ -S "$folder/agent.sock" ] && there=1
      for fifo in "$folder"/handover.*; do
        owner=${fifo##*/handover.}
        # The process that made it still has the agent's lock open, so it is the living agent.
        [ -p "$fifo" ] && [ "/proc/${owner%.*}/fd/${owner#*.}" -ef "$folder/lock" ] && return 0
      done
    done
  done
  return 1
}

runs() {
  find_agent || [ -n "$there" ]
}

# A fraction of a second, if sleep accepts fractions.
pause() {
  sleep "$1" 2>/dev/null || sleep 1
}

# Returns only if the agent does not take the streams.
hand_over() {
  reply=$folder/reply.$$
  mkfifo -m 600 "$reply" 2>/dev/null || return
  # Opening for both never waits. The agent knows this process by descriptor 5. 3 and 4 are the streams, because `read`
  # replaces 0. 6 is for the end: the agent may have closed everything when its answer is read.
  exec 3<&0 4>&1 5<>"$reply" 6<"$reply"
  echo "$$" 1<>"$fifo"
  read -r answer <&5
  if [ "$answer" = yes ]; then
    exec 5>&-
    read -r answer <&6
    exit 0
  fi
  exec 3<&- 4>&- 5>&- 6<&-
}

if [ "$seconds" -gt 0 ]; then
  for wait in 0.05 0.05 0.1 0.1 0.2; do
    runs && break
    pause "$wait"
  done
  quarters=$((seconds * 4))
  until runs || [ "$quarters" -le 0 ]; do
    pause 0.25
    quarters=$((quarters - 1))
  done
fi
find_agent && hand_over
[ -n "$there" ] || exit 94
for python in "$@"; do
  path=$(command -v "$python" 2>/dev/null) && [ -x "$path" ] && [ ! -d "$path" ] || continue
  GPUSH_AGENT=$$ exec "$python" -I -S -B -X utf8 -u -c "$relay" "$name"
done
exit 97
