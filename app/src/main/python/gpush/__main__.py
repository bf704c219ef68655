"""Becomes the launcher, a shell script beside this file: no process of Python stays."""

import os
import signal
import sys

ON_WINDOWS = """\
gpush: cannot start
  because Windows itself runs no shell script
  try: wsl --install, and install gpush inside WSL
"""


def main():
    if os.name != "posix":
        sys.stderr.write(ON_WINDOWS)
        sys.exit(3)
    launcher = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpush")
    # Python ignores these, and so would all that gpush starts.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.execv(launcher, [launcher] + sys.argv[1:])


if __name__ == "__main__":
    main()
