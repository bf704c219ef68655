# clients: JSch, of mwiede
needs_rig
needs python3
at=$(ssh devbox 'mktemp -d')
serve "$at" echo.py
echo "[127.0.0.1]:$(gateway) $(cat "$host_key")" >"$dir/known_hosts"
says_all "$java" -cp "$rig/jars/jsch/*" "$clients/JschClient.java" "$(gateway)" devbox "$key" "$dir/known_hosts" "$port"
cleared "$at"
