# 14: the agent's keys, twenty at once, for as long as the channel; and git on the node that uses them
needs python3
at=$(ssh devbox 'mktemp -d')
there agent_keys.py "$at"
ssh-keygen -q -t ed25519 -N '' -C gpush-contract -f "$dir/key"
eval "$(ssh-agent -s)" >/dev/null
trap 'kill "$SSH_AGENT_PID" $(jobs -p) 2>/dev/null || true; rm -rf "$dir"' EXIT
ssh-add -q "$dir/key"
for n in $(seq 20); do
  ssh -A devbox "python3 $at/agent_keys.py; echo \$SSH_AUTH_SOCK" >"$dir/$n.said" &
  asked="${asked-} $!"
done
for each in $asked; do wait "$each"; done
same "$(head -qn 1 "$dir"/*.said | sort | uniq -c | tr -s ' ')" " 20 gpush-contract signs"
same "$(tail -qn 1 "$dir"/*.said | sort -u | wc -l)" 20
within ssh devbox "! test -e $(tail -n 1 "$dir/1.said")"
ssh-add -q "$GPUSH_HOME/keys/id_ed25519"
if ssh devbox 'command -v git && command -v ssh' >/dev/null; then
  # From the node back to the gateway, which lets in whom the agent signs for.
  gateway=$(cat "$GPUSH_HOME/ssh_port")
  ssh devbox "git init -q --bare $at/repo && git -C $at/repo -c user.name=a -c user.email=a@b commit-tree -m x \$(git -C $at/repo hash-object -w -t tree /dev/null) >$at/c && git -C $at/repo update-ref refs/heads/main \$(cat $at/c)"
  env ssh -F "$config" -N -R "0:127.0.0.1:$gateway" devbox 2>"$dir/r" &
  within grep -q 'Allocated port' "$dir/r"
  back=$(sed -n 's/.*Allocated port \([0-9]*\).*/\1/p' "$dir/r")
  git="GIT_SSH_COMMAND='ssh -F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -p $back'"
  ssh -A devbox "$git git ls-remote devbox@127.0.0.1:$at/repo" | grep -q refs/heads/main
fi
ssh devbox "rm -rf $at"
