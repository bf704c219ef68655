"""Says for each lock file on the command line whether somebody holds it, and the holder's label: one JSON line.

Makes the folder (sticky, for all users) and takes nothing: a lock that it could take is let go by exiting. The agents take them.
"""
import fcntl
import json
import os
import sys

MAX_LABEL = 200

held = {}
for path in sys.argv[1:]:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        try:
            os.mkdir(folder)
            os.chmod(folder, 0o1777)
        except FileExistsError:
            pass
    try:
        # Without O_CREAT: the kernel refuses it on other users' files in a sticky folder (fs.protected_regular).
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        continue
    except OSError as error:
        held[path] = "unusable lock file: %s" % error.strerror
        continue
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        held[path] = os.read(lock, MAX_LABEL).decode("utf-8", "replace").strip() or "unknown"
    os.close(lock)
print(json.dumps(held))
