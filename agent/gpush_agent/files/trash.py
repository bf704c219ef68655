"""Files that a commit replaced and gpush did not write, one folder G<generation> for each commit. It is kept for its owner, up to a limit:
a node whose files are overwritten every day must not fill its disk."""
import os
import re
import shutil

MOST_BYTES = 1 << 30        # of all generations but the newest: as much as a workspace may be before gpush asks
MOST_GENERATIONS = 100      # beside the newest; more are of no use
MOST_FILES = 200000         # that are counted; what has more is too large
MOST_TOLD = 20 << 10        # bytes of a tar: an answer has 64 KiB
MOST_READ = 1 << 20         # bytes of files that may become such a tar
BLOCK = 512                 # bytes in one unit of st_blocks
GENERATION = re.compile(rb"G([0-9]{1,18})\Z")


class Trash:
    """In a folder of gpush on the file system of the tree. Only folders with the name of a generation are ever removed."""

    def __init__(self, own):
        self.path = os.path.join(own, b"trash")
        self.counted = {}       # name -> (when it was changed, bytes, files): one that is complete is counted once

    def of(self, generation):
        return os.path.join(self.path, b"G%d" % generation)

    def surplus(self, newest):
        """Names of what is beyond the limit, the oldest first. The newest generation is what this commit has just put there: it stays
        and does not count."""
        names = [name for name in self.generations() if name != b"G%d" % newest]
        left, kept = MOST_BYTES, 0
        while kept < min(len(names), MOST_GENERATIONS):
            left -= size(os.path.join(self.path, names[-1 - kept]), left)
            if left < 0:
                break
            kept += 1
        return names[:len(names) - kept]

    def generations(self):
        """The oldest first: by time, because a new workspace counts from 1."""
        found = []
        try:
            if os.path.islink(self.path):
                return []       # not gpush's, so nothing below it is removed
            for name in os.listdir(self.path):
                match = GENERATION.match(name)
                path = os.path.join(self.path, name)
                if match and os.path.isdir(path) and not os.path.islink(path):
                    found.append((os.lstat(path).st_mtime, int(match.group(1)), name))
        except OSError:
            pass
        return [name for _, _, name in sorted(found)]

    def contents(self):
        """What is in it, for `sync status`: {"folder", "bytes", "files"}."""
        counted = {}
        for name in self.generations():
            path = os.path.join(self.path, name)
            try:
                at = os.lstat(path).st_mtime_ns
            except OSError:
                continue
            known = self.counted.get(name)
            counted[name] = known if known and known[0] == at else (at,) + count(path)
        self.counted = counted
        return {"folder": os.fsdecode(self.path), "bytes": sum(each[1] for each in counted.values()),
                "files": sum(each[2] for each in counted.values())}

    def packed(self):
        """All of it as the text of a tar, for the gateway, which keeps it when this disk ends; None: it is too large, or changes."""
        import base64           # late: only asked for at the end
        import gzip
        import io
        import tarfile
        out = io.BytesIO()
        try:
            if self.contents()["bytes"] <= MOST_READ:
                # No time of packing in it: two looks are the same.
                with gzip.GzipFile(mode="wb", fileobj=out, mtime=0) as packed, tarfile.open(mode="w", fileobj=packed) as tar:
                    for name in self.generations():
                        tar.add(os.fsdecode(os.path.join(self.path, name)), os.fsdecode(name))
                return base64.b64encode(out.getvalue()).decode("ascii") if out.tell() <= MOST_TOLD else None
        except (OSError, tarfile.TarError):
            pass
        return None

    def remove(self, names):
        for name in names:
            shutil.rmtree(os.path.join(self.path, name), ignore_errors=True)


def count(folder):
    """(bytes, files) below a folder; no more than MOST_FILES are counted."""
    total = files = 0
    for at, _, names in os.walk(folder):
        for name in names:
            files += 1
            try:
                total += os.lstat(os.path.join(at, name)).st_size
            except OSError:
                pass
            if files > MOST_FILES:
                return total, files
    return total, files


def size(folder, limit):
    """Bytes on the disk below a folder; counted no further than is needed to know that it is more than the limit."""
    total = files = 0
    for at, folders, names in os.walk(folder):
        for name in folders + names:
            files += 1
            try:
                total += os.lstat(os.path.join(at, name)).st_blocks * BLOCK
            except OSError:
                pass
            if total > limit or files > MOST_FILES:
                return max(total, limit + 1)
    return total
