# 31: ssh-audit finds what docs/reference/ssh-audit.policy says
# kinds: local
needs_rig
"$rig/bin/ssh-audit" -P "$clients/../../../../docs/reference/ssh-audit.policy" -p "$(gateway)" 127.0.0.1 >"$dir/o" || { cat "$dir/o"; exit 1; }
grep -q Passed "$dir/o"
