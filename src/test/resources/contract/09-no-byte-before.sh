# 9: no byte before the command's own, nor before that of a login shell
same "$(ssh devbox true 2>&1 | wc -c)" 0
same "$(ssh devbox 'bash -lc true 2>/dev/null || true' | wc -c)" 0
