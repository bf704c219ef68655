# 5: a command of 100 kB
long=$(head -c 100000 /dev/zero | tr '\0' x)
same "$(ssh devbox "x=$long; echo \${#x}")" 100000
