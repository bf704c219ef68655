# The first process of a container: becomes loader.py, a file beside this one, in the first usable Python. Fixed text.
# Called as:  sh <folder>/begin.sh python3 /usr/bin/python3 ...      where <folder>/start is the loader's input
# Unlike probe.sh it does not try a python3 before it becomes the loader, because that would start each of them twice:
# loader.py checks its own version, and if it cannot be used runs this again with the interpreters that are left.
# Exit 97: none was found, or none works; 98: the last one found is older than 3.6. The last line on stderr is JSON.
folder=${0%/*}
# What was found so far: empty, "broken", or a version that is too old.
found=${GPUSH_FOUND:-}
unset GPUSH_FOUND
while [ $# -gt 0 ]; do
  python=$1
  shift
  path=$(command -v "$python" 2>/dev/null) && [ -x "$path" ] && [ ! -d "$path" ] || continue
  case ${python##*/} in
    python3*) ;;
    *)
      # It may be Python 2, which does not know the options below.
      version=$("$python" -c 'import sys
if sys.version_info < (3, 6): sys.stdout.write(".".join(map(str, sys.version_info[:3])))' </dev/null 2>/dev/null) || version=broken
      if [ -n "$version" ]; then
        found=$version
        continue
      fi
      ;;
  esac
  GPUSH_AGENT=$$ exec "$python" -I -S -B -X utf8 -u "$folder/loader.py" "$0" "$@" <"$folder/start"
done
case $found in
  '') echo '{"code": "no-python", "facts": {}}' >&2 ;;
  *[!0-9.]*) echo '{"code": "python-broken", "facts": {}}' >&2 ;;
  *)
    # Only a version gets into the answer.
    echo '{"code": "python-too-old", "facts": {"found": "'"$found"'"}}' >&2
    exit 98
    ;;
esac
exit 97
