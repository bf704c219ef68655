# 2: a command that a signal ends
status ssh devbox 'kill -TERM $$'
same $code 255
