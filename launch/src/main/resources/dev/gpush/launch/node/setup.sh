# Runs a command of the project on this node, unless it has run with these files and for this Python already (status 97).
# PYTHON is what the session wants: the Python itself may be something that the command makes.
# Called as: sh -c '<this text>' sh COMMAND WORKSPACE FOLDER NAME PYTHON FILE…   What it says is printed, and kept in FOLDER/NAME.log.
run=$1 workspace=$2 folder=$3 name=$4 python=$5
shift 5
cd "$workspace" && mkdir -p "$folder" || exit 96
if command -v sha256sum >/dev/null 2>&1; then sum=sha256sum; else sum=cksum; fi
key() {
  {
    printf '%s\n' "$run" "$python"
    for file do
      printf '%s\n' "$file"
      [ ! -f "$file" ] || $sum <"$file"
    done
  } | $sum
}
key=$(key "$@")
[ "$key" = "$(cat "$folder/$name.key" 2>/dev/null)" ] && exit 97
# Nodes may share the environment that they install into.
lock=${VIRTUAL_ENV:-${CONDA_PREFIX:-}}
if [ -n "$lock" ] && [ -w "$lock" ] && command -v flock >/dev/null 2>&1; then
  exec 9>"$lock/.gpush-setup" && flock 9
fi
shell=$(command -v bash) || shell=/bin/sh
rm -f "$folder/$name.key" "$folder/$name.status"
{
  "$shell" -e -c "$run" </dev/null 9>&-
  echo $? >"$folder/$name.status"
} 2>&1 | tee "$folder/$name.log"
status=$(cat "$folder/$name.status" 2>/dev/null) || exit 96
[ "$status" = 0 ] || exit "$status"
printf '%s\n' "$key" >"$folder/$name.key"
