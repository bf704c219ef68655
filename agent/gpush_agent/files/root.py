"""The root of a manifest: one hash for all entries, whose work after a change is proportional to the change. An entry's line belongs
to one of 1,024 buckets, by the CRC-32 of its path; a bucket's hash is that of its lines, and the root is the hash of these."""
import hashlib
import struct
import zlib

FILE, LINK = "file", "link"
BUCKETS = 1024
NUMBER = struct.Struct(">H")


def content_key(kind, content):
    """The hash that stands for an entry: a link's is that of its target."""
    return content if kind == FILE else hashlib.sha256(content.encode("utf-8")).hexdigest()


def bucket_of(path):
    return zlib.crc32(path.encode("utf-8")) % BUCKETS


def in_order(paths):
    """By their bytes: UTF-8 keeps the order of code points, which is that of Python."""
    return sorted(paths)


def hash_of(bucket, paths, entry_of):
    """Of a bucket, after its number; empty for one without paths."""
    lines = []
    for path in in_order(paths):
        entry = entry_of(path)
        lines.append("%s\0%s\0%d\0%s\n" % (path, entry[0], entry[1], content_key(entry[0], entry[3])))
    return NUMBER.pack(bucket) + hashlib.sha256("".join(lines).encode("utf-8")).digest() if lines else b""


class Root:
    """Of one manifest; never changed."""

    def __init__(self, paths, hashes):
        self.paths = paths          # of each bucket
        self.hashes = hashes        # of each
        self.value = hashlib.sha256(b"".join(hashes)).hexdigest()

    @classmethod
    def of(cls, entries):
        paths = [[] for _ in range(BUCKETS)]
        for path in entries:
            paths[bucket_of(path)].append(path)
        return cls(paths, [hash_of(bucket, names, entries.get) for bucket, names in enumerate(paths)])

    def after(self, changed, entry_of):
        """The root when these paths have other entries. `entry_of(path)` is the new entry, or None for one that is gone."""
        paths, hashes, touched = list(self.paths), list(self.hashes), {}
        for path in changed:
            touched.setdefault(bucket_of(path), []).append(path)
        for bucket, some in touched.items():
            paths[bucket] = [path for path in set(paths[bucket]).union(some) if entry_of(path) is not None]
            hashes[bucket] = hash_of(bucket, paths[bucket], entry_of)
        return Root(paths, hashes)
