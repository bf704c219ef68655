"""Becomes the launcher, a shell script beside this file: no process of Python stays."""

import os
import signal
import sys

ON_WINDOWS = """\
gpush: cannot start
  because Windows itself runs no shell script
  try: wsl --install, and install gpush inside WSL
"""


NO_LAUNCHER = """\
gpush: cannot start
  because %s: %s; the installation of the package runs or was interrupted
  try: the command again when it has ended; else install the package again
"""


def main():
    if os.name != "posix":
        sys.stderr.write(ON_WINDOWS)
        sys.exit(3)
    launcher = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpush")
    # Python ignores these, and so would all that gpush starts.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    try:
        os.execv(launcher, [launcher] + sys.argv[1:])
    except OSError as failed:
        sys.stderr.write(NO_LAUNCHER % (launcher, failed.strerror))
        sys.exit(3)


if __name__ == "__main__":
    main()
