"""Random work on a mounted folder and on one of this machine, by four threads: exercise.py MOUNTED HERE [STEPS].
What is read is the same on both; an error of one is the same error of the other. Prints its seed."""
import os
import random
import sys
import threading

mounted, here = sys.argv[1:3]
steps = int(sys.argv[3]) if len(sys.argv) > 3 and sys.argv[3] else 80
seed = int(os.environ.get("GPUSH_SEED") or random.randrange(1 << 32))
print("exercise.py seed %d (GPUSH_SEED)" % seed, file=sys.stderr)
failed = []


class Worker:
    def __init__(self, number):
        self.dice = random.Random(seed + number)
        self.roots = [os.path.join(root, "worker%d" % number) for root in (mounted, here)]
        for root in self.roots:
            os.mkdir(root)

    def both(self, act):
        """Does it in both places; the results, which are equal."""
        results = []
        for root in self.roots:
            try:
                results.append(act(root))
            except OSError as error:
                results.append(type(error).__name__)
        assert results[0] == results[1], (act.__name__, repr(results[0])[:80], repr(results[1])[:80])

    def name(self):
        return "%d/%d" % (self.dice.randrange(3), self.dice.randrange(6)) if self.dice.random() < 0.5 else str(self.dice.randrange(6))

    def step(self):
        path, other = self.name(), self.name()
        offset, size = self.dice.randrange(300000), self.dice.choice((0, 1, 4096, 70000, 200000))
        data = self.dice.randbytes(size)
        folder = str(self.dice.randrange(3))

        def make(root):
            os.mkdir(os.path.join(root, folder))

        def write(root):
            fd = os.open(os.path.join(root, path), os.O_RDWR | os.O_CREAT, 0o644)
            try:
                at = 0
                while at < size:
                    at += os.pwrite(fd, data[at:at + 50000], offset + at)
                return os.pread(fd, 100000, max(0, offset - 10))
            finally:
                os.close(fd)

        def append(root):
            with open(os.path.join(root, path), "ab") as file:
                file.write(data)

        def cut(root):
            os.truncate(os.path.join(root, path), offset)

        def read(root):
            with open(os.path.join(root, path), "rb") as file:
                return file.read()

        def move(root):
            source, target = os.path.join(root, path), os.path.join(root, other)
            if os.path.isfile(source) and not os.path.isdir(target):
                os.rename(source, target)

        def remove(root):
            target = os.path.join(root, path)
            if os.path.isdir(target):
                return "a folder"
            os.unlink(target)

        def remove_folder(root):
            if os.listdir(os.path.join(root, folder)):
                return "not empty"
            os.rmdir(os.path.join(root, folder))

        def link(root):
            target = os.path.join(root, path)
            if os.path.lexists(target):
                return "exists"
            os.symlink("target of " + path, target)
            return os.readlink(target)

        def modes(root):
            target = os.path.join(root, path)
            if os.path.islink(target):
                return "a link"
            os.chmod(target, 0o700 | size % 64)
            os.utime(target, (offset, offset + 1))
            found = os.stat(target)
            return (found.st_mode, int(found.st_mtime), found.st_size if os.path.isfile(target) else 0)

        def names(root):
            return sorted(name for _, folders, files in os.walk(root) for name in folders + files)

        acts = (make, write, write, write, append, cut, read, read, move, remove, remove_folder, link, modes, names)
        self.both(self.dice.choice(acts))

    def run(self):
        try:
            for _ in range(steps):
                self.step()
        except BaseException as error:
            failed.append(repr(error))
            raise


workers = [threading.Thread(target=Worker(number).run) for number in range(4)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
sys.exit("seed %d: %s" % (seed, failed) if failed else 0)
