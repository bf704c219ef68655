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


def hash_of(paths, entry_of):
    lines = []
    for path in in_order(paths):
        entry = entry_of(path)
        lines.append("%s\0%s\0%d\0%s\n" % (path, entry[0], entry[1], content_key(entry[0], entry[3])))
    return hashlib.sha256("".join(lines).encode("utf-8")).digest()


class Root:
    """Of one manifest; never changed."""

    def __init__(self, paths, hashes):
        self.paths = paths          # bucket → its paths; none is empty
        self.hashes = hashes
        self.value = hashlib.sha256(b"".join(NUMBER.pack(bucket) + hashes[bucket] for bucket in sorted(hashes))).hexdigest()

    @classmethod
    def of(cls, entries):
        paths = {}
        for path in entries:
            paths.setdefault(bucket_of(path), []).append(path)
        return cls(paths, {bucket: hash_of(names, entries.get) for bucket, names in paths.items()})

    def after(self, changed, entry_of):
        """The root when these paths have other entries. `entry_of(path)` is the new entry, or None for one that is gone."""
        paths, hashes = dict(self.paths), dict(self.hashes)
        touched = {}
        for path in changed:
            touched.setdefault(bucket_of(path), []).append(path)
        for bucket, some in touched.items():
            names = [path for path in set(paths.get(bucket, ())).union(some) if entry_of(path) is not None]
            if names:
                paths[bucket], hashes[bucket] = names, hash_of(names, entry_of)
            else:
                paths.pop(bucket, None)
                hashes.pop(bucket, None)
        return Root(paths, hashes)
