package dev.gpush.sync.watch;

import dev.gpush.sync.git.GitFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Knows whether git is changing a work tree: it holds its index, or is between two steps of a
 * rebase, of which the index says nothing. A lock that was left over, and a rebase that waits for a
 * person, look the same but do not move. For one thread.
 */
final class GitAtWork {
  private static final List<String> LOCK = List.of("index.lock");

  /** Git keeps in them what is left of several commits, and renames a file there for each one. */
  private static final List<String> STEPS = List.of("rebase-merge", "rebase-apply", "sequencer");

  private final Path root;
  private final WatchTiming timing;
  private final Sign lock = new Sign();
  private final Sign steps = new Sign();
  private Optional<Long> since = Optional.empty();

  GitAtWork(Path root, WatchTiming timing) {
    this.root = root;
    this.timing = timing;
  }

  /**
   * Whether what has changed may be half of something.
   *
   * @param changedAt the last change of the tree, which shows that the owner of a lock lives
   */
  boolean isBusy(long changedAt, long now) {
    Optional<Path> folder = GitFolder.around(root).map(GitFolder::own);
    boolean isLocked = lock.isMoving(stamp(folder, LOCK), Optional.of(changedAt), now);
    boolean isInSteps = steps.isMoving(stamp(folder, STEPS), Optional.empty(), now);
    if (!isLocked && !isInSteps) {
      since = Optional.empty();
      return false;
    }
    long begun = since.orElse(now);
    since = Optional.of(begun);
    if (now - begun < timing.gitLongest().toNanos()) {
      return true;
    }
    since = Optional.empty();
    lock.isOver = true;
    steps.isOver = true;
    return false;
  }

  /** Of what is there; empty where nothing is. */
  private static String stamp(Optional<Path> folder, List<String> names) {
    return folder.stream()
        .flatMap(git -> names.stream().map(git::resolve))
        .flatMap(file -> stamp(file).stream())
        .collect(Collectors.joining(" "));
  }

  private static Optional<String> stamp(Path file) {
    try {
      var seen = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      return Optional.of(seen.lastModifiedTime() + " " + seen.fileKey());
    } catch (IOException none) {
      return Optional.empty();
    }
  }

  /** What git leaves in its folder while it is at work. */
  private final class Sign {
    private String seen = "";
    private long seenAt;
    private boolean isOver = true;

    /** What did not move for a while is not waited for until it is another. */
    boolean isMoving(String stamp, Optional<Long> changedAt, long now) {
      if (!stamp.equals(seen)) {
        seen = stamp;
        seenAt = now;
        isOver = stamp.isEmpty();
      }
      long still = Math.min(now - seenAt, now - changedAt.orElse(seenAt));
      isOver |= still >= timing.gitStill().toNanos();
      return !isOver;
    }
  }
}
