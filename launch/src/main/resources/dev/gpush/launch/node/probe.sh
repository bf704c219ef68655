# Finds the first of the given Pythons that is there and lets it say what it is.
# Called as: sh -c '<this text>' sh '<program for it>' candidate candidate ...   The candidates are never parsed again.
# The one that it becomes is named on stderr first, for the case that it does not work.
# A candidate is a path, a folder with bin/python, a name on PATH, or a word for what is active here. Exit 97: none.
program=$1
shift
for candidate in "$@"; do
  case $candidate in
    @venv) candidate=${VIRTUAL_ENV:+$VIRTUAL_ENV/bin/python} ;;
    @conda) candidate=${CONDA_PREFIX:+$CONDA_PREFIX/bin/python} ;;
    "~") candidate=$HOME ;;
    "~/"*) candidate=$HOME/${candidate#??} ;;
  esac
  [ -n "$candidate" ] || continue
  [ -d "$candidate" ] && candidate=$candidate/bin/python
  cd / && command -v "$candidate" >/dev/null 2>&1 || continue
  printf 'gpush-candidate %s\n' "$candidate" >&2
  exec "$candidate" -c "$program"
done
exit 97
