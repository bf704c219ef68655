# 2: asyncssh: the name of the signal that ended a command; terminals, forwards, sftp of trees
needs_rig
needs bash python3
says_all "$rig/bin/python" "$clients/asyncssh_client.py" "$(gateway)" devbox "$key" "$GPUSH_HOME/known_hosts" "$(alias_of_host)"
