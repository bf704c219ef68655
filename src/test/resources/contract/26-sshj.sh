# 26: sshj, for JetBrains: 300 sessions on one connection, 50 MB by sftp there and back, a server that speaks first
needs_rig
needs python3
at=$(ssh devbox 'mktemp -d')
serve "$at" speaker.py
fingerprint=$(ssh-keygen -lf "$host_key" | cut -d' ' -f2)
says_all "$java" -cp "$rig/jars/sshj/*" "$clients/SshjClient.java" "$(gateway)" devbox "$key" "$fingerprint" "$dir" "$port"
cat "$dir/said"
cleared "$at"
