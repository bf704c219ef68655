"""Says for each lock file on the command line whether somebody holds it, with the label in it: one JSON line.

Takes nothing that lasts and makes nothing: a lock that it could take is let go by exiting. The agents take them.
"""
import fcntl
import json
import os
import sys

MAX_LABEL = 4096

held = {}
for path in sys.argv[1:]:
    try:
        # Without O_CREAT: the kernel refuses it on other users' files in a sticky folder (fs.protected_regular).
        # O_NONBLOCK: whatever another user put there, such as a pipe, must not make us wait.
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        continue
    except OSError as error:
        held[path] = json.dumps({"name": "unusable lock file (%s)" % error.strerror})
        continue
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        held[path] = os.read(lock, MAX_LABEL).decode("utf-8", "replace")
    os.close(lock)
print(json.dumps(held))
