# 15: git push and clone
needs git
at=$(ssh devbox 'mktemp -d')
export GIT_SSH_COMMAND="ssh -F $config" GIT_CONFIG_GLOBAL=/dev/null
mkdir "$dir/one"
cd "$dir/one"
git init -q -b main
git config user.name me && git config user.email me@example.org
for n in $(seq 200); do echo "line $n" >"$n.txt"; done
git add . && git commit -qm first
ssh devbox "git init -q --bare -b main $at/repo"
git push -q "devbox:$at/repo" main
git clone -q "devbox:$at/repo" "$dir/two"
diff -r -x .git "$dir/one" "$dir/two"
ssh devbox "rm -rf $at"
