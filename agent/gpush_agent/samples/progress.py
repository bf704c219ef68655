"""How fast a run makes its steps, from the output that its journal keeps with the time of each piece (docs/technical/top.md). Nothing is
parsed unless `top` or `why` looks. However long the output is, a look reads its end, and the first one a piece of it at each of PLACES
places."""
import collections
import json
import os
import re
import time

from ..runs import journal, rundir
from . import steps

TAIL = 128 << 10            # bytes of the end
WHOLE = 512 << 10           # output that is no longer is read as a whole
PLACES, PIECE = 16, 32 << 10
NARROWED = 5                # more pieces, to find out since when it is slow
RECENT_MS = 60000           # what the rate of now is made from
LEAST_POINTS = 8            # or the last steps, where a minute has fewer
MOST_POINTS = 2000
BLOCKS = 6                  # of which the middle one counts, so that a pause for an evaluation does not
LEAST_SPANS = 3             # of a rate that is compared
LEAST_RATES = 4             # of a median
SLOW = 0.7                  # of the median
SLOW_MS = 20000             # what is shorter is no change
QUIET_MS = 10000            # without a step, after which there is no rate of now
AGAIN_MS = 10000            # between two looks at the whole
EARLIER = 3
ALIKE = ("mode", "program", "argv", "command", "cwd", "world", "procs")
CHAIN = 4                   # headers in a row: what is in the middle of a record looks like one by chance
TOP_MS = 1 << 40
STARTS = re.compile(br"(?=\x00[\x00\x01][\x00-\xff]{4}[\x00-\x02]\x00\x00\x00\x00)")
ENDS = re.compile(br"[\r\n]")

OVER_MS = 600000            # what counted nothing for so long, while other counts went on, is over

Point = collections.namedtuple("Point", "ms step")          # when a step was printed
Rate = collections.namedtuple("Rate", "ms rate offset")     # since when, how many a second, and where in the output


# ---- records

def read(folder, offset, size):
    """(offset, bytes) of what is there from this offset on."""
    tail, pieces = journal.Tail(folder, offset), []
    try:
        while size > 0:
            data, jumped = tail.read(size)
            if jumped and not pieces:
                offset = tail.offset
            elif jumped or not data:
                break
            pieces.append(data)
            size -= len(data)
    except OSError:
        pass
    finally:
        tail.close()
    return offset, b"".join(pieces)


def is_start(data, at):
    """Whether records begin there, one after the other."""
    before = 0
    for _ in range(CHAIN):
        if at + journal.HEADER.size > len(data):
            return before > 0
        length, _, channel, zero, ms = journal.HEADER.unpack_from(data, at)
        if not 0 < length <= journal.PAYLOAD or channel > journal.EVENT or zero or not before <= ms < TOP_MS:
            return False
        at, before = at + journal.HEADER.size + length, max(ms, 1)
    return True


def start_in(data):
    """Where the first record begins; its end where none does."""
    return next((match.start() for match in STARTS.finditer(data) if is_start(data, match.start())), len(data))


def records(data, at):
    """([(ms, rank, channel, payload)], where the first one begins that is not whole)."""
    found = []
    while at + journal.HEADER.size <= len(data):
        length, rank, channel, _, ms = journal.HEADER.unpack_from(data, at)
        begin = at + journal.HEADER.size
        if begin + length > len(data):
            break
        if channel != journal.EVENT:
            found.append((ms, rank, channel, data[begin:begin + length]))
        at = begin + length
    return found, at


# ---- lines

class Lines:
    """Of one rank's channel. A line is as old as its last byte: what ends a bar comes with the next one. Of a long line the head is kept."""

    def __init__(self, is_cut):
        self.is_cut, self.head, self.ms = is_cut, b"", 0

    def feed(self, ms, data):
        parts = ENDS.split(data)
        for at, part in enumerate(parts):
            if part:
                self.head, self.ms = self.head + part[:steps.MOST - len(self.head)], ms
            if at < len(parts) - 1:
                if self.head and not self.is_cut:
                    yield self.ms, self.head
                self.head, self.is_cut = b"", False

    def bar(self):
        """The one that is drawn now."""
        return [(self.ms, self.head)] if self.head.rstrip().endswith(b"]") and not self.is_cut else []


class Text:
    """Output that goes on: the steps of the lowest rank that prints any, by what counts them."""

    def __init__(self, is_cut):
        self.is_cut, self.lines = is_cut, {}

    def feed(self, found):
        ranks = collections.OrderedDict()
        for ms, rank, channel, data in found:
            ranks.setdefault(rank, []).append((ms, channel, data))
        for rank in sorted(ranks):
            points = {}
            for ms, channel, data in ranks[rank]:
                lines = self.lines.setdefault((rank, channel), Lines(self.is_cut))
                add(points, (rank, channel), lines.feed(ms, data))
            if points:
                return points
        return {}

    def bars(self):
        points = {}
        for key in sorted(self.lines):
            add(points, key, self.lines[key].bar())
        return points


def add(points, key, lines):
    for ms, line in lines:
        step = steps.step_of(line.decode("utf-8", "replace"))
        if step is not None:
            points.setdefault(key + (step.series,), []).append(Point(ms, step))


# ---- rates

def climbs(points):
    """Lists of (ms, count) in which both grow. Ranks that share an output print the same steps, one a bit later than the other; a count
    that goes on lower is one that began again."""
    found, now, low = [], [], []
    for point in points:
        pair = (point.ms, point.step.count)
        if not now or pair[1] > now[-1][1]:
            low = []
            if now and pair[0] <= now[-1][0]:
                now[-1] = (now[-1][0], pair[1])
            else:
                now.append(pair)
        elif pair[1] < now[-1][1]:
            low = [each for each in low if each[1] < pair[1] and each[0] < pair[0]] + [pair]
            if len(low) == 3:
                found.append(now)
                now, low = low, []
    return found + [now] if now else found


def spans_of(points):
    """(ms, steps, from ms)."""
    return [(b[0] - a[0], b[1] - a[1], a[0]) for some in climbs(points) for a, b in zip(some, some[1:])]


def middle(values):
    values, half = sorted(values), len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def rate_of(spans):
    """Steps a second: that of the middle one of blocks, so a stall at every few steps counts, and one long pause does not."""
    if not spans:
        return None
    size = max(1, len(spans) // BLOCKS)
    blocks = [spans[at:at + size] for at in range(0, len(spans), size)]
    return 1000.0 / middle([sum(span[0] for span in some) / float(sum(span[1] for span in some)) for some in blocks])


def rates_of(chunks, key, is_whole):
    """Rates over the run, in order."""
    if is_whole:
        spans = spans_of([point for _, points in chunks for point in points.get(key, [])])
        size = max(LEAST_SPANS, -(-len(spans) // PLACES))
        pieces = [(0, spans[at:at + size]) for at in range(0, len(spans), size)]
    else:
        pieces = [(offset, spans_of(points.get(key, []))) for offset, points in chunks]
    return [Rate(spans[0][2], rate_of(spans), offset) for offset, spans in pieces if len(spans) >= LEAST_SPANS]


def median_of(rates):
    return middle([each.rate for each in rates]) if len(rates) >= LEAST_RATES else None


def main_key(chunks, recent):
    """What counts the training: found at most places, and still printed if anything is."""
    def weight(key):
        return sum(1 for _, points in chunks if key in points), sum(len(points.get(key, [])) for _, points in chunks)
    keys = set(key for _, points in chunks for key in points) if recent is None else recent
    return max(sorted(keys, key=repr), key=weight) if keys else None


# ---- the whole output

def chunks_of(folder):
    """([(offset, what `Text` found there)], whether that is all that there is)."""
    found = journal.segments(folder)
    first, end = found[0][0] if found else 0, journal.end(folder)
    if end - first <= WHOLE:
        first, data = read(folder, first, WHOLE)
        all_of_it, _ = records(data, 0)
        text, size = Text(first > 0), len(all_of_it) // PLACES + 1
        return [(first, text.feed(all_of_it[at:at + size])) for at in range(0, len(all_of_it), size)], True
    places = [first + place * (end - first - PIECE) // (PLACES - 1) for place in range(PLACES)]
    return [(offset, piece_at(folder, offset)) for offset in places], False


def piece_at(folder, offset):
    _, data = read(folder, offset, PIECE)
    return Text(True).feed(records(data, start_in(data))[0])


def whole_rate(folder, series):
    """The median rate of a run that is over, by what counts together there; None where that is not known."""
    chunks, is_whole = chunks_of(folder)
    key = main_key(chunks, set(key for _, points in chunks for key in points if key[-1] == series))
    return None if key is None else median_of(rates_of(chunks, key, is_whole))


def earlier(state, run, workspace, series):
    """The last runs before this one that did the same, and how fast: [{"run", "rate", "same_files"}], the newest first."""
    alike, files = spec_of(rundir.folder_of(state, run), workspace)
    found = []
    for number in reversed(rundir.numbers(state)):
        folder = rundir.folder_of(state, number)
        if number < run and rundir.has_ended(folder):
            other, its_files = spec_of(folder, workspace)
            if other == alike:
                found.append({"run": number, "rate": whole_rate(folder, series), "same_files": bool(files) and its_files == files})
                if len(found) == EARLIER:
                    break
    return [each for each in found if each["rate"] is not None]


def spec_of(folder, workspace):
    """(what it does, the generation of its files: None or 0 where there is none). A snapshot stands for the workspace."""
    spec = rundir.read(folder, "spec.json")
    tree = (spec.get("env") or {}).get("GPUSH_WORKSPACE") if spec.get("snapshot") else None
    values = [spec.get(name) for name in ALIKE]
    if tree and workspace:
        values = [[home(each, tree, workspace) for each in value] if isinstance(value, list) else home(value, tree, workspace)
                  for value in values]
    return values, (spec.get("about") or {}).get("generation")


def home(word, tree, workspace):
    is_inside = isinstance(word, str) and (word == tree or word.startswith(tree + "/"))
    return workspace + word[len(tree):] if is_inside else word


# ---- a run

class Progress:
    """Of a run in progress, for as long as someone looks."""

    def __init__(self, folder, now=time.monotonic):
        self.folder, self.now, self.started = folder, now, None
        self.series = None                      # that counts the training
        self.begin()

    def begin(self):
        self.at, self.text, self.recent = None, None, {}
        self.chunks, self.is_whole, self.measured = [], True, None
        self.usual, self.since = {}, {}         # of each key, until the whole is read again

    def look(self):
        """What it has come to; None while it prints no steps."""
        started = rundir.read(self.folder, "lock").get("started")
        if not isinstance(started, (int, float)):
            return None
        if started != self.started:             # another attempt
            self.started = started
            self.begin()
        now = (self.now() - started) * 1000
        self.go_on()
        if self.measured is None or now - self.measured >= max(AGAIN_MS, self.measured / PLACES):
            self.measure(now)
        bars = self.text.bars()
        key = main_key(self.chunks, self.recent or bars or None)
        if key is None:
            return None
        self.series = key[-1]
        points = self.recent.get(key, []) + bars.get(key, [])
        return self.described(key, points or [point for _, some in self.chunks for point in some.get(key, [])], now)

    def measure(self, now):
        self.chunks, self.is_whole = chunks_of(self.folder)
        self.measured, self.usual, self.since = now, {}, {}

    def go_on(self):
        end = journal.end(self.folder)
        if self.at is None or end - self.at > TAIL:
            at, data = read(self.folder, max(0, end - TAIL), TAIL)
            self.text, skipped = Text(at > 0), start_in(data)
        else:
            at, data = read(self.folder, self.at, TAIL)
            skipped = 0
        found, after = records(data, skipped)
        self.at = at + after
        for key, points in self.text.feed(found).items():
            self.recent.setdefault(key, []).extend(points)
        newest = max([points[-1].ms for points in self.recent.values()] or [0])
        for key, points in list(self.recent.items()):
            later = [point for point in points if point.ms >= points[-1].ms - RECENT_MS]
            self.recent[key] = (later if len(later) >= LEAST_POINTS else points[-LEAST_POINTS:])[-MOST_POINTS:]
            ms, step = points[-1]
            if ms < newest - OVER_MS or (step.step == step.total and ms < newest):      # over, and another one has begun
                del self.recent[key]

    def described(self, key, points, now):
        step, spans = points[-1].step, spans_of(points)
        age = max(0.0, now - points[-1].ms)
        rate = rate_of(spans)
        if rate is not None and age > QUIET_MS + 2 * middle([float(span[0]) for span in spans]):
            rate = None
        median, since = self.median(key), None
        if self.is_slow(rate, median) and now - self.measured >= AGAIN_MS:
            self.measure(now)
            median = self.median(key)
        if self.is_slow(rate, median) and len(spans) >= LEAST_SPANS:
            since = self.slow_since(key, Rate(spans[0][2], rate, self.at), SLOW * median)
        else:
            self.since.pop(key, None)
        return {"rank": None if key[0] == journal.LAUNCHER else key[0], "step": step.step, "total": step.total, "epoch": step.epoch,
                "age_s": round(age / 1000, 1), "rate": rate, "median": median,
                "slow_s": None if since is None or now - since < SLOW_MS else round((now - since) / 1000, 1)}

    @staticmethod
    def is_slow(rate, median):
        return rate is not None and median is not None and rate < SLOW * median

    def rates(self, key):
        if key not in self.usual:
            self.usual[key] = rates_of(self.chunks, key, self.is_whole)
        return self.usual[key]

    def median(self, key):
        return median_of(self.rates(key))

    def slow_since(self, key, newest, limit):
        if key not in self.since:
            self.since[key] = self.found_since(key, self.rates(key) + [newest], limit)
        return self.since[key]

    def found_since(self, key, rates, limit):
        """Since when it has been slow without a break, after a time in which it mostly was not. A run whose rate goes up and down has no
        such time."""
        at = len(rates)
        while at and rates[at - 1].rate < limit:
            at -= 1
        if at == 0 or 4 * sum(1 for each in rates[:at] if each.rate < limit) > at:
            return None
        if not self.is_whole:
            return self.narrowed(key, rates[at - 1].offset, rates[at], limit)
        since = rates[at].ms
        spans = spans_of([point for _, points in self.chunks for point in points.get(key, [])])
        for ms, count, begin in reversed([span for span in spans if rates[at - 1].ms <= span[2] < since]):
            if 1000.0 * count / ms >= limit:
                break
            since = begin
        return since

    def narrowed(self, key, low, slow, limit):
        """Between an offset at which it was fast and a place at which it is slow, by more pieces."""
        high, since = slow.offset, slow.ms
        for _ in range(NARROWED):
            half = (low + high) // 2
            spans = spans_of(piece_at(self.folder, half).get(key, []))
            if len(spans) < LEAST_SPANS:
                break
            if rate_of(spans) < limit:
                high, since = half, spans[0][2]
            else:
                low = half
        return since
