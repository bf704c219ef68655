# Without the usual test for an interactive shell: sshd's bash reads this before every command, too.
echo "loading modules: cuda/12.4 gcc/13"
printf '\033]0;noisy\007'
echo "a warning on stderr" >&2
printf 'no newline at the end of this'
