# 24: open-remote-ssh's library, npm's ssh2: none first, a long encoded script, forwards of ports and sockets, sftp
needs_rig
needs bash python3 base64
says_all node "$clients/ssh2_client.js" "$(gateway)" devbox "$key" "$rig/node_modules"
