# clients: paramiko: commands, a terminal, 40 channels at once, sftp, forwards both ways, new keys
needs_rig
needs python3
says_all "$rig/bin/python" "$clients/paramiko_client.py" "$(gateway)" devbox "$key" "$GPUSH_HOME/known_hosts" "$(alias_of_host)"
