"""What the user of a copy sees: progress on a terminal, sentences on standard error, events with --json on standard output."""
import json
import os
import sys
import threading
import time

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
REDRAW, EVENTS = 0.2, 1.0
SILENT = 5.0                # without a byte, after which it is said
RATE_SECONDS = 10.0
MOST_SHOWN = 20
NAMED = 8                   # on one line


def size_text(count):
    unit = 0
    while abs(count) >= 1024 and unit < len(UNITS) - 1:
        count, unit = count / 1024.0, unit + 1
    return "%d B" % count if unit == 0 else "%.1f %s" % (count, UNITS[unit])


def time_text(seconds):
    seconds = int(seconds + 0.5)
    if seconds < 60:
        return "%ds" % seconds
    if seconds < 3600:
        return "%dm %02ds" % divmod(seconds, 60)
    return "%dh %02dm" % (seconds // 3600, seconds % 3600 // 60)


def clean(text):
    """For a terminal: names may hold anything."""
    text = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


class Report:
    def __init__(self, options, place):
        self.options, self.place = options, place
        self.is_preview = bool(options.get("dry_run"))
        self.lock = threading.Lock()
        self.total, self.files = 0, 0           # to copy
        self.bytes, self.copied = 0, 0          # of them done
        self.same_files = self.again = 0
        self.failures, self.parts, self.notes = [], [], 0
        self.began = time.monotonic()
        self.samples = [(self.began, 0)]
        self.is_shown, self.is_over = False, threading.Event()
        self.drawer = None

    # ---- counted by the threads of the job

    def wanted(self, size, files=1):
        with self.lock:
            self.total, self.files = self.total + size, self.files + files

    def same(self, size):
        with self.lock:
            self.same_files += 1

    def moved(self, size):
        with self.lock:
            self.bytes += size

    def resumed(self, size):
        with self.lock:
            self.again += size

    def done(self, files):
        with self.lock:
            self.copied += files

    def failed(self, path, reason, part=False):
        with self.lock:
            self.failures.append((path, reason))
            if part:
                self.parts.append(path)
        self.event("failed", path=clean(path), because=reason)

    def skipped(self, path, reason, fails):
        if fails:
            self.failed(path, reason)
        else:
            self.note("left out %s: %s" % (path, reason))

    def note(self, line):
        with self.lock:
            self.notes += 1
            few = self.notes <= MOST_SHOWN
        if few:
            self.say(line)

    # ---- shown

    def planned(self):
        self.event("plan", files=self.files, bytes=self.total, same=self.same_files)
        self.began = time.monotonic()
        self.samples = [(self.began, 0)]
        if self.options.get("json") or (self.options.get("progress") and not self.options.get("quiet")):
            self.drawer = threading.Thread(target=self.draw, daemon=True)
            self.drawer.start()

    def preview(self, copies, compares):
        """What a copy would do, [[path, bytes]], on standard output: it is what was asked for."""
        self.event("plan", files=len(copies), bytes=sum(size for _, size in copies), same=self.same_files)
        for do, some in (("copy", copies), ("compare", compares)):
            for path, size in some:
                self.event("would", do=do, path=clean(path), bytes=size)
            if some and not self.options.get("json"):
                names = ", ".join(path for path, _ in sorted(some)[:NAMED])
                more = " and %d more" % (len(some) - NAMED) if len(some) > NAMED else ""
                size = size_text(sum(size for _, size in some))
                line = "%s: would %s %s, %s: %s%s" % (self.place, do, count_text(len(some)), size, names, more)
                self.write(sys.stdout, clean(line) + "\n")
        if not copies and not compares and not self.failures and not self.options.get("json"):
            self.write(sys.stdout, "%s: nothing to copy; %s unchanged\n" % (self.place, count_text(self.same_files)))

    def draw(self):
        while not self.is_over.wait(EVENTS if self.options.get("json") else REDRAW):
            state = self.state()
            if self.options.get("json"):
                self.event("progress", **state)
            else:
                self.line(state)

    def state(self):
        now = time.monotonic()
        with self.lock:
            bytes_, total, copied, files, again = self.bytes, self.total, self.copied, self.files, self.again
        sent = bytes_ - again
        self.samples.append((now, sent))
        while len(self.samples) > 2 and now - self.samples[1][0] > RATE_SECONDS:
            self.samples.pop(0)
        first = self.samples[0]
        rate = max(0.0, (sent - first[1]) / max(0.001, now - first[0]))
        last = max((at for at, count in self.samples if count < sent), default=self.began)
        state = {"bytes": bytes_, "of_bytes": total, "files": copied, "of_files": files, "bytes_a_second": int(rate)}
        if rate > 0:
            state["left_s"] = int((total - bytes_) / rate)
        if now - last > SILENT:
            state["silent_s"] = int(now - last)
        return state

    def line(self, state):
        words = ["%3d%%" % (100 * state["bytes"] // max(1, state["of_bytes"])),
                 "%s of %s" % (size_text(state["bytes"]), size_text(state["of_bytes"])),
                 "%d of %d files" % (state["files"], state["of_files"])]
        if "silent_s" in state:
            words.append("nothing came for %s" % time_text(state["silent_s"]))
        else:
            words.append("%s/s" % size_text(state["bytes_a_second"]))
            if "left_s" in state:
                words.append("%s left" % time_text(state["left_s"]))
        try:
            width = os.get_terminal_size(2).columns
        except OSError:
            width = 80
        with self.lock:
            self.is_shown = True
            self.write(sys.stderr, "\r" + "  ".join(words)[:max(20, width - 1)] + "\x1b[K")

    def close(self):
        self.is_over.set()
        if self.drawer is not None:
            self.drawer.join()
        self.wipe()

    def wipe(self):
        with self.lock:
            if self.is_shown:
                self.write(sys.stderr, "\r\x1b[K")
                self.is_shown = False

    def event(self, kind, **fields):
        if self.options.get("json"):
            self.write(sys.stdout, json.dumps(dict({"type": kind, "node": self.place}, **fields)) + "\n")

    def say(self, line):
        if not self.options.get("quiet"):
            self.wipe()
            self.write(sys.stderr, clean(line) + "\n")

    def interrupted(self, where, parts):
        self.close()
        self.incomplete(where, "it was interrupted", parts, "the same command")

    def broken(self, where, sources, failed, parts):
        self.close()
        if failed.code == "over":
            self.incomplete(where, failed.text, parts, "gpush ps, then the same command")
        elif failed.code == "full":
            self.complain("cannot copy to %s" % where, [failed.text] + self.kept(parts),
                          "make room there, or another folder"
                          + ("" if self.is_preview else "; the same command continues with what is there"))
        else:
            self.complain("cannot copy %s to %s" % (" ".join(sources), where), [failed.text], "gpush help cp")
        self.event("broken", because=clean(failed.text))

    def incomplete(self, where, why, parts, hint):
        self.complain("the %s to %s is not complete" % ("preview of the copy" if self.is_preview else "copy", where),
                      [why] + self.kept(parts), hint + ("" if self.is_preview else "; it continues with what is there"))

    def kept(self, parts):
        return ["nothing was written"] if self.is_preview else ["%s.gpush-part is kept" % path for path in parts[:MOST_SHOWN]]

    def complain(self, what, because, hint):
        """Also with --quiet."""
        lines = ["gpush: " + what, "  because " + because[0]] + ["    " + line for line in because[1:]] + ["  try: " + hint]
        self.write(sys.stderr, "".join(clean(line) + "\n" for line in lines))

    @staticmethod
    def write(stream, text):
        try:
            stream.write(text)
            stream.flush()
        except OSError:
            pass                # nobody reads it; the copy goes on

    def summary(self):
        if self.is_preview:
            self.tell_failures()
            return
        seconds = time.monotonic() - self.began
        with self.lock:
            sent = self.bytes - self.again
        self.event("done", files=self.copied, bytes=self.bytes, resumed=self.again, same=self.same_files, failed=len(self.failures),
                   took_s=int(seconds))
        if not self.copied and not self.failures:
            self.say("%s: nothing to copy; %s unchanged" % (self.place, count_text(self.same_files)))
        elif self.copied:
            text = "%s: copied %s, %s in %s" % (self.place, count_text(self.copied), size_text(self.bytes), time_text(seconds))
            if sent > (1 << 20) and seconds > 0.5:
                text += " (%s/s)" % size_text(sent / seconds)
            if self.again:
                text += "; %s of that were there from before" % size_text(self.again)
            if self.same_files:
                text += "; %s unchanged" % count_text(self.same_files)
            self.say(text)
        self.tell_failures()

    def tell_failures(self):
        if not self.failures:
            return
        self.wipe()
        verb = "would not be" if self.is_preview else "is not" if len(self.failures) == 1 else "are not"
        lines = ["gpush: %s %s copied" % (count_text(len(self.failures)), verb)]
        lines += ["  %s: %s" % failure for failure in self.failures[:MOST_SHOWN]]
        if len(self.failures) > MOST_SHOWN:
            lines.append("  and %d more; --json names all" % (len(self.failures) - MOST_SHOWN))
        lines += ["  kept %s.gpush-part, with which the same command continues" % path for path in self.parts[:MOST_SHOWN]]
        self.write(sys.stderr, "".join(clean(line) + "\n" for line in lines))


def count_text(files):
    return "1 file" if files == 1 else "%d files" % files
