package dev.gpush.shell.text;

import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs.Picture;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.Ended;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What a shell was shown last of its session. The shell keeps the line of it, and gives it to the
 * next gateway, which so knows what has happened while there was none.
 *
 * @param id the session's; empty: none was shown
 * @param newest of the runs that were shown; 0: none, they may not have been read yet
 * @param running the runs that were in progress
 * @param picture empty: an earlier gateway had it
 */
public record LastSeen(
    String id, String name, int newest, Set<Integer> running, Optional<Picture> picture) {
  public static final LastSeen NOTHING = new LastSeen("", "", 0, Set.of(), Optional.empty());

  public LastSeen {
    running = Set.copyOf(running);
  }

  /** What {@link #line} has written, in words; nothing when it is of another gpush. */
  public static LastSeen parse(List<String> words) {
    if (words.size() < 3 || !words.stream().skip(2).allMatch(word -> word.matches("[0-9]{1,9}"))) {
      return NOTHING;
    }
    List<Integer> numbers = words.stream().skip(2).map(Integer::valueOf).toList();
    return new LastSeen(
        words.get(0),
        words.get(1),
        numbers.getFirst(),
        Set.copyOf(numbers.subList(1, numbers.size())),
        Optional.empty());
  }

  /** Words between spaces; empty for nothing. */
  public String line() {
    return id.isEmpty()
        ? ""
        : Stream.concat(Stream.of(id, name, newest), running.stream().sorted())
            .map(Object::toString)
            .collect(Collectors.joining(" "));
  }

  /** When this is shown. */
  public LastSeen after(Picture now) {
    if (now.session().isEmpty()) {
      boolean isOver = now.ended().stream().map(Ended::id).anyMatch(id::equals);
      return isOver ? NOTHING : this;
    }
    SessionView session = now.session().get();
    boolean isSame = session.id().equals(id);
    // A gateway that takes a session over reads its runs later.
    var open = new HashSet<>(isSame ? running : Set.<Integer>of());
    for (RunView run : now.runs()) {
      if (run.isOver()) {
        open.remove(run.number());
      } else {
        open.add(run.number());
      }
    }
    int latest =
        IntStream.concat(
                IntStream.of(isSame ? newest : 0), now.runs().stream().mapToInt(RunView::number))
            .max()
            .orElseThrow();
    return new LastSeen(session.id(), session.name().text(), latest, open, Optional.of(now));
  }

  /** Whether it was over, as far as was shown. */
  public boolean isOver(int run) {
    return !running.contains(run) && (newest == 0 || run <= newest);
  }
}
