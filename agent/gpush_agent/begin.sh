# The first process of a container: becomes loader.py, a file beside this one, with the first Python that there is. Fixed text.
# Called as:  sh <folder>/begin.sh python3 /usr/bin/python3 ...      where <folder>/start is the loader's input
# Other than in probe.sh no Python 3 is tried first, which would start each of them twice: loader.py finds out by itself whether
# it is fit, and if not runs this again with those that are left. Exit 97: none was found; 98: all that were found are unfit.
folder=${0%/*}
found=${GPUSH_FOUND:-}
unset GPUSH_FOUND
while [ $# -gt 0 ]; do
  python=$1
  shift
  path=$(command -v "$python" 2>/dev/null) && [ -x "$path" ] && [ ! -d "$path" ] || continue
  found=1
  case ${python##*/} in
    python3*) ;;
    # It may be a Python 2, which does not even know the options.
    *) "$python" -c 'import sys; sys.exit(sys.version_info < (3, 6))' </dev/null >/dev/null 2>&1 || continue ;;
  esac
  GPUSH_AGENT=$$ exec "$python" -I -S -B -X utf8 -u "$folder/loader.py" "$0" "$@" <"$folder/start"
done
if [ -n "$found" ]; then
  echo '{"code": "python-too-old", "facts": {}}' >&2
  exit 98
fi
echo '{"code": "no-python", "facts": {}}' >&2
exit 97
