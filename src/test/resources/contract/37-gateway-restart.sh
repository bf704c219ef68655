# 37: a gateway that ends: terminals are hung up, commands go on without pipes, clients come in again
# alone
at=$(ssh devbox 'mktemp -d')
survives() { # HOW COMMAND...
  how=$1
  shift
  ssh devbox "mkdir $at/$how"
  env ssh -F "$config" -tt devbox "cd $at/$how && trap 'echo hup >hup; exit' HUP; echo \$\$ >terminal; while :; do sleep 0.1; done" </dev/null >/dev/null 2>&1 &
  terminal=$!
  env ssh -F "$config" -T devbox "cd $at/$how && trap '' PIPE; echo \$\$ >command; cat >/dev/null; echo >eof; until [ -e go ]; do sleep 0.1; done; { echo out; } 2>/dev/null; echo \$? >written" <&9 >/dev/null 2>&1 &
  command=$!
  within ssh devbox "test -s $at/$how/terminal && test -s $at/$how/command"
  "$@"
  for client in "$terminal" "$command"; do
    status wait "$client"
    same "$code" 255
  done
  within ssh devbox "test -s $at/$how/hup && test -e $at/$how/eof"
  ssh devbox "touch $at/$how/go"
  within ssh devbox "test -s $at/$how/written"
  # Nobody reads what it says after that.
  [ "$(ssh devbox "cat $at/$how/written")" -gt 0 ]
}
gateway() { "$gpush" gateway status --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["pid"])'; }
killed() { kill -9 "$(gateway)"; }
stopped() { "$gpush" gateway stop >/dev/null 2>&1; }
survives killed killed
survives stopped stopped
is_back() { [ "$("$gpush" exec 'echo $GPUSH_NODE' 2>/dev/null)" = 0 ]; }
within is_back
ssh devbox "rm -r $at"
