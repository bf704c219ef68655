# 22: a node that is lost: the client ends with status 255 and a reason
# last
case $kind in
  kubernetes)
    # A pod of an indexed job is called as its host, and something more.
    host=$(ssh devbox hostname)
    pod=$($kubectl get pods -o name | grep "/$host")
    lose() { $kubectl delete "$pod" --force --grace-period=0 >/dev/null 2>&1; } ;;
  slurm)
    lose() { ssh devbox 'scancel $SLURM_JOB_ID'; } ;;
  *)
    # The agent, and the guard that would start another one.
    lose() { ssh devbox 'read -r _ _ _ guard _ </proc/$PPID/stat; kill -9 $guard $PPID' 2>/dev/null; } ;;
esac
env ssh -F "$config" devbox "echo there; exec sleep 600" >"$dir/out" 2>"$dir/err" &
client=$!
within grep -q there "$dir/out"
lose || [ "$kind" != kubernetes ]
begin=$(date +%s%N)
status wait "$client"
same "$code" 255
grep -q 'because' "$dir/err" || { cat "$dir/err" >&2; exit 1; }
echo "ended $((($(date +%s%N) - begin) / 1000000)) ms after its node: $(head -n 1 "$dir/err")"
