package dev.gpush.sync.scan;

import dev.gpush.core.task.Clock;
import dev.gpush.sync.git.GitFolder;
import dev.gpush.sync.git.GitIndex;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Git's files outside the tree that decide what is sent, as they were read last: each repository's
 * index, and the rules that stand in no folder of the tree.
 */
final class GitFiles {
  private final FolderListener listener;
  private final Clock clock;
  private final Map<Path, RememberedIndex> indexes = new HashMap<>();
  private final Map<Path, Optional<FileStamp>> rules = new HashMap<>();
  private long rulesReadAt;

  /**
   * An index.
   *
   * @param stamp empty when there was none
   */
  private record RememberedIndex(
      GitFolder repository, Optional<FileStamp> stamp, long at, GitIndex index) {
    boolean isStill(Optional<FileStamp> now) {
      return stamp.equals(now) && stamp.map(settled -> settled.isSettled(at)).orElse(true);
    }
  }

  GitFiles(FolderListener listener, Clock clock) {
    this.listener = listener;
    this.clock = clock;
  }

  /** A repository's index; the one of the last time when that tracks the same paths. */
  GitIndex index(GitFolder repository) throws IOException {
    listener.entering(repository.own());
    Optional.ofNullable(repository.exclude().getParent()).ifPresent(listener::entering);
    Path file = repository.own().resolve("index");
    long at = FileStamp.nanos(clock.now());
    Optional<FileStamp> stamp = stamp(file);
    RememberedIndex known = indexes.get(file);
    if (known != null && known.isStill(stamp)) {
      return known.index();
    }
    GitIndex index = GitIndex.read(repository.own());
    if (known != null && known.index().equals(index)) {
      index = known.index();
    }
    indexes.put(file, new RememberedIndex(repository, stamp, at, index));
    return index;
  }

  /** Remembers how these files are now, before they are read. */
  void readRules(Iterable<Path> files) {
    rules.clear();
    rulesReadAt = FileStamp.nanos(clock.now());
    files.forEach(file -> rules.put(file, stamp(file)));
  }

  /** Whether a look at single folders finds what a walk from the top would find. */
  boolean areUnchanged() {
    try {
      for (RememberedIndex known : List.copyOf(indexes.values())) {
        if (!index(known.repository()).equals(known.index())) {
          return false;
        }
      }
    } catch (IOException unreadable) {
      return false;
    }
    return rules.entrySet().stream().allMatch(rule -> isStill(rule.getKey(), rule.getValue()));
  }

  private boolean isStill(Path file, Optional<FileStamp> before) {
    return before.equals(stamp(file))
        && before.map(stamp -> stamp.isSettled(rulesReadAt)).orElse(true);
  }

  private static Optional<FileStamp> stamp(Path file) {
    try {
      return Optional.of(FileStamp.look(file.toRealPath()).stamp());
    } catch (NoSuchFileException none) {
      return Optional.empty();
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }
}
