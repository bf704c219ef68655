"""Whether git is changing the work tree: it holds its index, or is between two steps of a rebase. A lock that was left over, and a rebase that
waits for a person, look the same but do not move. As GitAtWork.java."""
import os

STILL_S = 2.0               # git, of which nothing has moved for this long, is not waited for
LONGEST_S = 30.0            # git at work is not waited for longer
LOCK = (b"index.lock",)
STEPS = (b"rebase-merge", b"rebase-apply", b"sequencer")    # what is left of several commits


class GitWork:
    def __init__(self, root):
        self.folder = os.path.join(root, b".git")
        self.lock, self.steps = Sign(), Sign()
        self.since = None

    def is_busy(self, changed_at, now):
        """Whether what has changed may be half of something. `changed_at`: the last change of the tree shows that the owner of a lock lives."""
        is_locked = self.lock.is_moving(self.stamps(LOCK), changed_at, now)
        is_in_steps = self.steps.is_moving(self.stamps(STEPS), None, now)
        if not is_locked and not is_in_steps:
            self.since = None
            return False
        if self.since is None:
            self.since = now
        if now - self.since < LONGEST_S:
            return True
        self.since, self.lock.is_over, self.steps.is_over = None, True, True
        return False

    def stamps(self, names):
        found = []
        for name in names:
            try:
                status = os.lstat(os.path.join(self.folder, name))
                found.append((name, status.st_ino, status.st_mtime_ns))
            except OSError:
                pass
        return found


class Sign:
    """What git leaves in its folder while it is at work. What did not move for a while is not waited for until it is another."""

    def __init__(self):
        self.seen, self.seen_at, self.is_over = [], 0.0, True

    def is_moving(self, stamps, changed_at, now):
        if stamps != self.seen:
            self.seen, self.seen_at, self.is_over = stamps, now, not stamps
        if now - max(self.seen_at, changed_at or self.seen_at) >= STILL_S:
            self.is_over = True
        return not self.is_over
