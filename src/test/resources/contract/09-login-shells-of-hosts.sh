# 9: fish and tcsh as login shells of accounts on hosts
# kinds: ssh
rack=$(sed -n 's/.*ssh-config: \(.*\)}}/\1/p' "$GPUSH_HOME/config.yaml")
export GPUSH_HOME=$dir/home
config=$GPUSH_HOME/ssh_config
mkdir -p "$dir/proj" "$GPUSH_HOME"
cd "$dir/proj"
echo '# of a test' >gpush.yaml
chmod 700 "$GPUSH_HOME"
cat >"$GPUSH_HOME/config.yaml" <<END
backends:
  finn: {kind: ssh, hosts: [finn@restricted], ssh-config: $rack}
  cleo: {kind: ssh, hosts: [cleo@restricted], ssh-config: $rack}
END
trap 'for each in finn cleo; do "$gpush" -s "$each" down --discard >/dev/null 2>&1 || true; done; "$gpush" gateway stop >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
for user in finn cleo; do
  "$gpush" -s "$user" up --nodes 1 --backend "$user" >"$dir/up" 2>&1 || { cat "$dir/up" >&2; exit 1; }
  shell=$(command ssh -F "$rack" -l "$user" restricted 'echo $SHELL')
  shell_holds "$user" "$shell" "/home/$user"
  # A host has one gang at a time.
  "$gpush" -s "$user" down --discard >/dev/null 2>&1
done
