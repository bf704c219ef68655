"""One copy between this machine and a node, as near.py runs it: lists the sources, plans, asks for the space, makes folders, and moves
the contents on several threads, each with a stream to the node of its own. The end on this machine is an Ends, the other a Far."""
import collections
import hashlib
import json
import threading
import zlib

from . import parts
from .far import Stopped
from .wire import BLOCK, Failed

PLANNED = 4000              # entries in one request
BATCH_FILES, BATCH_BYTES = 256, 1 << 20
CHECKED = 8                 # blocks that are compared in one request
TRIES = 3                   # of a file that changes while it is copied
ACTIVE = 2                  # large files in progress, for each stream
SPARE = 16 << 20            # what a file system needs for itself


class Item:
    """What is copied: a file, folder or link, its path at the source, and `rel` below the target's root."""

    def __init__(self, path, rel, entry):
        self.path, self.rel = path, rel
        self.kind, self.stamp, self.mode, self.link, self.stored = entry[1:6]
        self.tries, self.again = 1, False

    @property
    def size(self):
        return self.stamp[0]


class Big:
    """A file of several blocks that is being copied."""

    def __init__(self, item, token, done):
        self.item, self.token = item, token
        self.left = parts.blocks_of(item.size)
        self.hashes = [b""] * self.left
        self.moved, self.is_over = 0, False
        self.done = done


def joined(base, rel):
    return base + "/" + rel if base and rel else base or rel


class Job:
    """`source` and `target` are functions that give the two ends for one thread; `report` is a Report."""

    def __init__(self, source, target, options, report, stop):
        self.source, self.target, self.options, self.report, self.stop = source, target, options, report, stop
        self.lock = threading.Condition()
        self.small, self.big, self.looks, self.blocks = (collections.deque() for _ in range(4))
        self.running, self.active = 0, 0
        self.begun = set()      # large files in progress
        self.over = None        # the failure that ends everything
        self.ended = []         # [rel, kind, mode, mtime] to set when all contents are there

    # ---- before the first byte

    def run(self, paths, target):
        source, there = self.source(), self.target()
        answer, packed = source.call({"do": "find", "paths": paths})
        listing = json.loads(zlib.decompress(packed).decode("ascii"))
        sources = listing["sources"]
        for path, reason, fails in listing["skipped"]:
            self.report.skipped(path, reason, fails)
        self.require_names(sources)
        force = bool(self.options.get("force"))
        begin = there.call({"do": "begin", "path": target, "force": force, "sources": [summary(one) for one in sources]})[0]
        self.root = begin["root"]
        items = self.items(sources, begin["names"])
        needed = self.plan(there, items, force)
        if needed + SPARE > begin["free"] and needed:
            raise Failed("%d bytes are needed, and %d are free there" % (needed, begin["free"]), "full")
        if self.options.get("dry_run"):
            whole = [item for some in self.small for item in some] + list(self.big)
            self.report.preview([[item.rel, item.size] for item in whole] + [[rel, 0] for rel, _, _ in self.links],
                                [[item.rel, item.size] for item in self.looks])
            return
        self.report.planned()
        self.make(there)
        self.move()
        if self.over is None and not self.stop.is_set():
            self.finish(there)
        if self.over is not None:
            raise self.over
        if self.stop.is_set():
            raise Stopped()

    @staticmethod
    def require_names(sources):
        seen = collections.Counter(one["name"] for one in sources)
        twice = [name for name, count in seen.items() if count > 1]
        if twice:
            raise Failed("two of the sources have the name %s" % twice[0])

    @staticmethod
    def items(sources, names):
        items = []
        for one, name in zip(sources, names):
            for entry in one["entries"]:
                items.append(Item(joined(one["base"], entry[0]), joined(name, entry[0]), entry))
        return items

    def plan(self, there, items, force):
        """Sorts the items by what is to do with them; returns the bytes that are needed there."""
        self.folders, self.links, needed, small = [], [], 0, []
        for at in range(0, len(items), PLANNED):
            some = items[at:at + PLANNED]
            answer = there.call({"do": "plan", "root": self.root, "force": force, "checksum": bool(self.options.get("checksum")),
                                 "entries": [[item.rel, item.kind, item.stamp, item.mode, item.link] for item in some]})[0]
            for item, verdict in zip(some, answer["verdicts"]):
                needed += self.sort(item, verdict, small)
        self.batch(small)
        return needed

    def sort(self, item, verdict, small):
        what = verdict[0]
        if what == "no":
            self.report.failed(item.rel or self.root, verdict[1])
        elif item.kind == "d":
            if what == "new":
                self.folders.append(item.rel)
            self.ended.append([item.rel, "d", item.mode, item.stamp[1]])
        elif what == "same":
            self.report.same(item.size if item.kind == "f" else 0)
        elif what == "mode":
            self.ended.append([item.rel, "f", item.mode, item.stamp[1]])
            self.report.same(item.size)
        elif item.kind == "l":
            self.links.append([item.rel, item.link, item.stamp[1]])
        elif what == "look":
            self.report.wanted(item.size)
            self.looks.append(item)
        else:
            self.report.wanted(item.size)
            if what == "again":
                self.report.note("%s changed since the copy was interrupted; it starts again" % item.rel)
            if item.size > BLOCK:
                self.big.append(item)
            else:
                small.append(item)
            there = verdict[1] if what == "part" else 0
            return max(0, min(item.size, item.stored) - there)
        return 0

    def batch(self, small):
        some, size = [], 0
        for item in small:
            if some and (len(some) == BATCH_FILES or size + item.size > BATCH_BYTES):
                self.small.append(some)
                some, size = [], 0
            some.append(item)
            size += item.size
        if some:
            self.small.append(some)

    def make(self, there):
        for at in range(0, max(1, len(self.folders)), PLANNED):
            self.made(there.call({"do": "make", "root": self.root, "folders": self.folders[at:at + PLANNED]})[0])
        for at in range(0, len(self.links), PLANNED):
            some = self.links[at:at + PLANNED]
            answer = there.call({"do": "make", "root": self.root, "links": some})[0]
            self.made(answer)
            self.report.done(len(some) - len(answer["failed"]))

    def made(self, answer):
        for rel, reason in answer["failed"]:
            self.report.failed(rel, reason)

    def finish(self, there):
        entries = sorted(self.ended, key=lambda entry: -entry[0].count("/") if entry[0] else 1)
        for at in range(0, len(entries), PLANNED):
            self.made(there.call({"do": "end", "root": self.root, "entries": entries[at:at + PLANNED]})[0])

    # ---- contents

    def move(self):
        todo = sum(map(len, (self.small, self.looks))) + sum(parts.blocks_of(item.size) for item in self.big)
        threads = [threading.Thread(target=self.work, daemon=True) for _ in range(min(self.options["streams"], todo))]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.2)        # so that signals are heard
                if self.stop.is_set():
                    with self.lock:
                        self.lock.notify_all()

    def work(self):
        source, target = self.source(), self.target()
        try:
            while True:
                task = self.next()
                if task is None:
                    return
                try:
                    task(source, target)
                finally:
                    with self.lock:
                        self.running -= 1
                        self.lock.notify_all()
        except Stopped:
            pass
        except Exception as error:      # the top of a thread
            self.end(error if isinstance(error, Failed) else Failed("of a bug: %s: %s" % (type(error).__name__, error), "over"))
        finally:
            source.close()
            target.close()

    def end(self, failed):
        with self.lock:
            self.over = self.over or failed
            self.lock.notify_all()

    def next(self):
        """What to do now; blocks of files that have begun are first. None at the end."""
        with self.lock:
            while True:
                if self.over is not None or self.stop.is_set():
                    return None
                task = self.choose()
                if task is not None:
                    self.running += 1
                    return task
                if not self.running:
                    return None
                self.lock.wait()

    def choose(self):
        while self.blocks:
            big, indices, is_check = self.blocks.popleft()
            if not big.is_over:
                return lambda source, target: self.of_big(big, source, target, self.check if is_check else self.send, indices)
        if self.looks:
            item = self.looks.popleft()
            return lambda source, target: self.look(item, source, target)
        if self.big and self.active < ACTIVE * self.options["streams"]:
            item = self.big.popleft()
            self.active += 1
            return lambda source, target: self.start(item, source, target)
        if self.small:
            some = self.small.popleft()
            return lambda source, target: self.copy(some, source, target)
        return None

    def fail(self, item, failed):
        """One file is not copied; with a full disk, or without the node, nothing more is."""
        if failed.code in ("full", "over"):
            raise failed
        self.report.failed(item.rel, failed.text, part=item.size > BLOCK and failed.code != "taken")

    def retry(self, item, failed, source):
        """A file that has changed is copied as it is now."""
        if failed.code == "changed" and item.tries < TRIES:
            try:
                stamp = source.call({"do": "stat", "path": item.path})[0]["stamp"]
            except Failed as gone:
                self.fail(item, gone)
                return
            self.report.wanted(stamp[0] - item.size, 0)
            item.stamp, item.tries, item.again = stamp, item.tries + 1, True
            self.report.note("%s changed while it was copied; it starts again" % item.rel)
            with self.lock:
                if item.size > BLOCK:
                    self.big.append(item)
                else:
                    self.small.append([item])
                self.lock.notify_all()
        else:
            self.fail(item, failed)

    # ---- small files

    def copy(self, some, source, target):
        answer, data = source.call({"do": "get", "files": [[item.path, item.stamp] for item in some]})
        read = []
        for item, found in zip(some, answer["files"]):
            if found[0] is None:
                self.retry(item, Failed(found[1], found[2]), source)
            else:
                read.append((item, found[0]))
        if not read:
            return
        files = [[item.rel, item.size, item.stamp[1], item.mode, sha] for item, sha in read]
        answer = target.call({"do": "put", "root": self.root, "files": files}, data)[0]
        count = size = 0
        for (item, _), failed in zip(read, answer["files"]):
            if failed is None:
                count, size = count + 1, size + item.size
            else:
                self.fail(item, Failed(*failed))
        self.report.moved(size)
        self.report.done(count)

    def look(self, item, source, target):
        """Whether the file there has the same content (--checksum)."""
        try:
            for at in range(0, parts.blocks_of(item.size), CHECKED):
                indices = list(range(at, min(at + CHECKED, parts.blocks_of(item.size))))
                ours = source.call({"do": "hash", "path": item.path, "stamp": item.stamp, "indices": indices})[0]["sha"]
                theirs = target.call({"do": "check", "root": self.root, "rel": item.rel, "size": item.size, "indices": indices})[0]["sha"]
                if ours != theirs:
                    item.again = True
                    with self.lock:
                        if item.size > BLOCK:
                            self.big.append(item)
                        else:
                            self.small.append([item])
                    return
            with self.lock:
                self.ended.append([item.rel, "f", item.mode, item.stamp[1]])
            self.report.wanted(-item.size, -1)
            self.report.same(item.size)
        except Failed as failed:
            self.retry(item, failed, source)

    # ---- large files

    def start(self, item, source, target):
        try:
            answer = target.call({"do": "start", "root": self.root, "rel": item.rel, "stamp": item.stamp, "again": item.again})[0]
        except Failed as failed:
            with self.lock:
                self.active -= 1
            self.fail(item, failed)
            return
        big = Big(item, answer["token"], answer["done"])
        there = set(big.done)
        todo = [(big, big.done[at:at + CHECKED], True) for at in range(0, len(big.done), CHECKED)]
        todo += [(big, [index], False) for index in range(len(big.hashes)) if index not in there]
        with self.lock:
            self.begun.add(item.rel)
            self.blocks.extend(todo)
            self.lock.notify_all()

    def of_big(self, big, source, target, action, indices):
        try:
            if action(big, source, target, indices):
                self.complete(big, source, target)
                self.close(big)
                with self.lock:
                    self.begun.discard(big.item.rel)
                self.report.done(1)
        except Failed as failed:
            if self.close(big):
                self.report.moved(-big.moved)
                self.retry(big.item, failed, source)

    def close(self, big):
        """Whether it was open until now."""
        with self.lock:
            was_over, big.is_over = big.is_over, True
            if not was_over:
                self.active -= 1
        return not was_over

    def about(self, big, do, **more):
        return dict(more, do=do, root=self.root, rel=big.item.rel, token=big.token)

    def check(self, big, source, target, indices):
        """Blocks of an earlier copy: those that are there as they should be are not sent again."""
        item = big.item
        theirs = target.call(self.about(big, "check", size=item.size, indices=indices))[0]["sha"]
        ours = source.call({"do": "hash", "path": item.path, "stamp": item.stamp, "indices": indices})[0]["sha"]
        is_last = False
        for index, sha, other in zip(indices, ours, theirs):
            if sha == other:
                self.report.resumed(parts.length_of(item.size, index))
                is_last = self.has(big, index, sha)
            else:
                with self.lock:
                    self.blocks.append((big, [index], False))
                    self.lock.notify_all()
        return is_last

    def send(self, big, source, target, indices):
        item, index = big.item, indices[0]
        answer, data = source.call({"do": "read", "path": item.path, "stamp": item.stamp, "index": index})
        target.call(self.about(big, "block", index=index, sha=answer["sha"], zeros=bool(answer.get("zeros"))), data)
        return self.has(big, index, answer["sha"])

    def has(self, big, index, sha):
        """Whether it was the last one."""
        size = parts.length_of(big.item.size, index)
        with self.lock:
            if big.is_over:
                return False
            big.hashes[index] = bytes.fromhex(sha)
            big.left -= 1
            big.moved += size
            is_last = big.left == 0
        self.report.moved(size)
        return is_last

    def complete(self, big, source, target):
        item = big.item
        if source.call({"do": "stat", "path": item.path})[0]["stamp"] != item.stamp:
            raise Failed("it changed while it was read", "changed")
        sha = hashlib.sha256(b"".join(big.hashes)).hexdigest()
        target.call(self.about(big, "finish", size=item.size, mtime=item.stamp[1], mode=item.mode, sha=sha))

    def unfinished(self):
        """The files of which a part is kept."""
        with self.lock:
            return sorted(self.begun)


def summary(source):
    """What the target must know of a source to choose its place."""
    inside = [entry[0] for entry in source["entries"] if entry[0] and "/" not in entry[0]]
    return {"name": source["name"], "kind": source["entries"][0][1], "inside": inside[:1000]}
