# 9: each login shell: zsh, fish, dash, csh, tcsh, sh
# kinds: local
# A gateway of its own in a mount namespace whose /etc/passwd this script writes; each session reads it when it begins.
if [ -z "${inside-}" ]; then
  [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null || skip "nothing can be mounted here"
  rm -r "$dir"
  inside=1 exec unshare -m bash "$0" "$1"
fi
mkdir "$dir/usual" "$dir/proj"
begun=
trap 'ends; kill $(jobs -p) 2>/dev/null || true; cd /; rm -rf "$dir"' EXIT
cp /etc/passwd "$dir/passwd"
mount --bind "$dir/passwd" /etc/passwd
export GPUSH_HOME=$dir/home HOME=$dir/usual
config=$GPUSH_HOME/ssh_config
cd "$dir/proj"
echo '# of a test' >gpush.yaml
ends() {
  for each in $begun; do "$gpush" -s "$each" down --discard >/dev/null 2>&1 || true; done
  "$gpush" gateway stop >/dev/null 2>&1 || true
}
begins() { # SESSION SHELL HOME
  printf 'root:x:0:0:root:%s:%s\n' "$3" "$2" >/etc/passwd
  begun="$begun $1"
  SHELL=$2 HOME=$3 "$gpush" -s "$1" up >"$dir/$1.up" 2>&1 || { cat "$dir/$1.up" >&2; exit 1; }
}
for shell in zsh fish dash csh tcsh sh; do
  path=$(command -v "$shell") || { echo "no $shell here" >&2; continue; }
  begins "$shell" "$path" "$dir/usual"
  shell_holds "$shell" "$path" "$dir/usual"
  echo "$shell holds"
done
