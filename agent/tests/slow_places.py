"""As SlowPlaces.java, for Python: pauses at some calls and returns of our functions.
Run by scripts/slow-places as `python3 slow_places.py SEED test_files`."""
import os
import sys
import threading
import time
import zlib

import run

SHARE = 50              # one place of this many
TIMES = 10
SECONDS = 0.04
OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def pauses(seed):
    left, sleep = {}, time.sleep

    def here(frame, event, _):
        code = frame.f_code
        place = (code, frame.f_lineno, event)
        count = left.get(place)
        if count is None:
            name = "%s %s %s %s" % (os.path.basename(code.co_filename), frame.f_lineno, event, seed)
            is_slow = os.path.abspath(code.co_filename).startswith(OURS) and zlib.crc32(name.encode()) % SHARE == 0
            count = left[place] = TIMES if is_slow else 0
        if count > 0:
            left[place] = count - 1
            sleep(SECONDS)
    return here


if __name__ == "__main__":
    threading.setprofile(pauses(sys.argv[1]))
    sys.setprofile(pauses(sys.argv[1]))
    run.main(sys.argv[2])
