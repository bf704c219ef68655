# 22: a client that asks whether we live is answered
same "$(ssh -o ServerAliveInterval=1 -o ServerAliveCountMax=2 devbox 'sleep 4; echo there')" there
