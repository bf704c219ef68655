# Runs one script of the contract: bash lib.sh SCRIPT. A script states its number and what it shows in its first line;
# "# alone" is for one beside which nothing else may run, "# kinds: …" for one of these kinds only. It may use:
#   $config      an ssh_config that knows the node devbox          $kind      local, ssh, slurm or kubernetes
#   $programs    the folder of Python programs beside this file    $clients   the folder of other SSH clients' programs
#   $rig         the clients rig, empty when it is down            $long      not empty in the profile long
#   $gpush       the launcher; GPUSH_HOME is set                   $java       a JDK 25
#   $others      a file that is there once the others are done     $kubectl    (kubernetes) kubectl in its namespace
set -eu
ssh() { command ssh -F "$config" "$@"; }
scp() { command scp -q -F "$config" "$@"; }
skip() { echo "$*" >&2; exit 77; }
# Ends the script where the node lacks a program, or this machine does.
needs() { for each; do ssh devbox "command -v $each" >/dev/null || skip "the node has no $each"; done; }
needs_here() { for each; do command -v "$each" >/dev/null || skip "there is no $each here"; done; }
needs_rig() { [ -n "$rig" ] || skip "the clients rig is down"; }
same() { [ "$1" = "$2" ] || { printf 'not %s but %s\n' "$2" "$1" >&2; exit 1; }; }
status() { set +e; "$@"; code=$?; set -e; }
noise() { head -c "$1" /dev/urandom; }
# A port that the kernel gives to nobody who asks for any.
free() { python3 -c 'import random, socket
while True:
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", random.randrange(20000, 32000)))
        except OSError:
            continue
        print(s.getsockname()[1])
        break'; }
within() { n=0; until "$@" 2>/dev/null; do n=$((n + 1)); [ $n -lt 1200 ] || { echo "never: $*" >&2; exit 1; }; sleep 0.1; done; }
# Sends a program of this folder to the node: there NAME FOLDER.
there() { ssh devbox "cat >$2/$1" <"$programs/$1"; }
# Starts a program of the node that says on its first line where it listens; sets port.
serve() { # FOLDER PROGRAM [ARGUMENT ...]
  folder=$1 program=$2
  shift 2
  there "$program" "$folder"
  ssh devbox "cd $folder; setsid nohup python3 $program $* >$program.says 2>/dev/null </dev/null & echo \$! >>$folder/pids; until [ -s $folder/$program.says ]; do sleep 0.05; done"
  port=$(ssh devbox "cat $folder/$program.says")
}
# Ends what was served from the folder and removes it.
cleared() { ssh devbox "kill \$(cat $1/pids) 2>/dev/null; rm -rf $1"; }
# Waits until a count that a file of the node begins with grows no more: two looks half a second apart see the same.
stalls() {
  before=none
  until now=$(ssh devbox "head -n 1 $1 2>/dev/null || echo none") && [ "$now" = "$before" ] && [ "$now" != none ]; do
    before=$now
    sleep 0.5
  done
}
# In the long form only.
pause() { [ -z "$long" ] || sleep "$1"; }
# What holds for a session whose account has this login shell and home.
shell_holds() { # SESSION SHELL HOME
  status ssh "$1" 'echo o; sh -c "echo e 1>&2"; exit 7' >"$dir/o" 2>"$dir/e"
  same "$code $(cat "$dir/o") $(cat "$dir/e")" "7 o e"
  same "$(ssh "$1" true 2>&1 | wc -c)" 0
  same "$(ssh "$1" 'echo $SHELL $HOME')" "$2 $3"
  echo "$1: $2" >&2
  same "$(ssh "$1" "python3 -c 'import os; print(os.readlink(\"/proc/%d/exe\" % os.getppid()))'; true")" "$(readlink -f "$2")"
  echo 'echo hi; exit 3' >"$dir/i"
  status ssh -T "$1" <"$dir/i" >"$dir/o" 2>/dev/null
  same "$code $(tail -n 1 "$dir/o")" "3 hi"
  same "$(ssh -tt "$1" 'stty rows 33 columns 44; stty size' </dev/null 2>/dev/null | tr -d '\r')" "33 44"
  noise 100000 >"$dir/f"
  ssh "$1" cat <"$dir/f" | cmp - "$dir/f"
  scp "$dir/f" "$1:/tmp/contract-$$"
  scp -O "$1:/tmp/contract-$$" "$dir/g"
  ssh "$1" "rm /tmp/contract-$$"
  cmp "$dir/f" "$dir/g"
}
# A client that is no OpenSSH's: what it needs to know of the gateway, and its last line is "all".
gateway() { cat "$GPUSH_HOME/ssh_port"; }
key=$GPUSH_HOME/keys/id_ed25519
host_key=$GPUSH_HOME/keys/ssh_host_ed25519_key.pub
alias_of_host() { sed -n 's/^ *HostKeyAlias //p' "$config" | head -n 1; }
says_all() { "$@" >"$dir/said" || { cat "$dir/said"; exit 1; }; same "$(tail -n 1 "$dir/said")" all; }
dir=$(mktemp -d)
# In the background: "env ssh", so that the job is ssh itself.
mkfifo "$dir/silence"
exec 9<>"$dir/silence"    # an input that says nothing and does not end: <&9
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$dir"' EXIT
. "$1"
