# Read by the rigs slurm and kubernetes: a rig that is one process tree. Its rack is process 1 of a PID namespace with mounts
# and a network of its own; with it all of the rig ends. Wants $rig, the folder of its state.

# A pid alone may be somebody else's by now: its start time goes with it.
started() { sed 's/.*) //' "/proc/$1/stat" 2> /dev/null | cut -d' ' -f20; }

# rack: prints the pid of the rack that runs, or fails.
rack() {
  local pid start
  read -r pid start 2> /dev/null < "$rig/rack.pid" && [[ $start && $(started "$pid") == "$start" ]] && echo "$pid"
}

in_rack() { nsenter -t "$(rack)" -a -- "$@"; }

# begin_rack PROGRAM: starts it and records its pid.
begin_rack() {
  local pid
  # Without any other descriptor: who inherits that of a lock, ours or our caller's, holds the lock for as long as it lives.
  (
    for fd in /proc/$BASHPID/fd/*; do
      fd=${fd##*/}
      ((fd < 3 || fd == 255)) || eval "exec $fd>&-"
    done
    exec setsid unshare --mount --net --uts --ipc --pid --fork --kill-child --mount-proc "$1"
  ) < /dev/null > "$rig/rack.log" 2>&1 &
  # The process of the pid namespace is unshare's child; unshare itself stays outside.
  for _ in $(seq 100); do
    pid=$(pgrep -P $! || true)
    [[ -z $pid ]] || break
    sleep 0.05
  done
  [[ $pid ]] || die "the rack did not start: $(cat "$rig/rack.log")"
  echo "$pid $(started "$pid")" > "$rig/rack.pid"
}

# rack_has FILE: waits until the rack has made it.
rack_has() {
  until [[ -e $1 ]]; do
    rack > /dev/null || die "the rack fell over: $(cat "$rig/rack.log")"
    sleep 0.05
  done
}

# end_rack: returns when it is gone, if it ran.
end_rack() {
  local pid
  pid=$(rack) || return 0
  kill -KILL "$pid"
  while [[ $(started "$pid") ]]; do sleep 0.02; done
}

# plug ADDRESS: a cable from this machine, which has the address, to the rack, where its end is called `outside`.
plug() {
  ! cable > /dev/null || die "another rig is up: $(cable)"
  ip link add "$outside" type veth peer name outside netns "$(rack)"
  ip link set "$outside" alias "$rig"
  ip addr add "$1/30" dev "$outside"
  ip link set "$outside" up
}

# unplug: the kernel takes a dead namespace's interfaces away some time later, and the next `up` wants the name now.
unplug() {
  local owner
  owner=$(cable) || return 0
  [[ $owner && $owner != "$rig" ]] || ip link del "$outside" 2> /dev/null || true
}

# cable: whose it is, if it is there.
cable() { cat "/sys/class/net/$outside/ifalias" 2> /dev/null; }

# is_up: a rack that was left half up is none.
is_up() { rack > /dev/null && [[ -e $rig/complete ]]; }
