"""Writes noise as fast as it is taken, and how much was taken into a file: writer.py MEGABYTES PROGRESS_FILE.
Its last line of that file is the digest of all."""
import hashlib
import os
import sys

megabytes, progress = int(sys.argv[1]), sys.argv[2]
block, digest, count = os.urandom(65536), hashlib.sha1(), 0
with open(progress, "w") as file:
    for number in range(megabytes * 16):
        part = number.to_bytes(8, "big") + block[8:]
        digest.update(part)
        while part:
            size = os.write(1, part)
            part, count = part[size:], count + size
            file.seek(0)
            file.write("%d\n" % count)
            file.flush()
    file.write("done %s\n" % digest.hexdigest())
