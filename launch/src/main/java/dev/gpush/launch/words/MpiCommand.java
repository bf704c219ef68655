package dev.gpush.launch.words;

import dev.gpush.core.failure.UsageFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * A pasted {@code mpirun} or {@code mpiexec}, of Open MPI or of MPICH and its relatives: its
 * options without the hosts, and its programs, which are several where {@code :} separates them.
 *
 * @param launcher as it was written
 * @param ranks of all programs; empty: as many as there are slots
 * @param replaced options that the session replaces, as they were written
 */
public record MpiCommand(
    String launcher, List<App> apps, OptionalInt ranks, List<String> replaced) {
  /** One program and the options before it. */
  public record App(List<String> options, List<String> program) {
    public App {
      options = List.copyOf(options);
      program = List.copyOf(program);
    }
  }

  private static final KnownOptions KNOWN = new KnownOptions("mpirun");

  private static final Pattern LAUNCHER =
      Pattern.compile("(?:.*/)?(?:mpirun|mpiexec)(?:[.][a-z0-9]+)?");

  /** Parameters that choose the hosts or start the daemons on them. */
  private static final Pattern OUR_PARAMETER =
      Pattern.compile("(?:plm|ras)(?:_.*)?|(?:orte|prte)_default_hostfile");

  public MpiCommand {
    apps = List.copyOf(apps);
    replaced = List.copyOf(replaced);
  }

  /** Whether more ranks may be started than there is room for. */
  public boolean isOversubscribed() {
    return apps.stream()
        .flatMap(app -> app.options().stream())
        .anyMatch(word -> word.matches("--?oversubscribe|.*:OVERSUBSCRIBE"));
  }

  /** The script of the first program and what follows; empty: it is no Python script. */
  public List<String> pythonScript() {
    List<String> program = apps.getFirst().program();
    boolean isPython = RunWords.isPython(program.getFirst());
    return isPython && program.stream().anyMatch(word -> word.endsWith(".py"))
        ? program.subList(1, program.size())
        : List.of();
  }

  static boolean isNamed(String word) {
    return LAUNCHER.matcher(word).matches();
  }

  /**
   * Reads all words.
   *
   * @return empty when it asks the launcher about itself
   */
  static Optional<MpiCommand> parse(List<String> words) {
    var reader = new Reader(words);
    while (reader.at < words.size()) {
      if (reader.readApp()) {
        return Optional.empty();
      }
    }
    if (reader.apps.isEmpty()) {
      throw UsageFailure.ofRun(words.getFirst() + " without a program");
    }
    return Optional.of(
        new MpiCommand(
            words.getFirst(),
            reader.apps,
            reader.isCounted ? OptionalInt.of(reader.ranks) : OptionalInt.empty(),
            reader.replaced));
  }

  private static final class Reader {
    private final List<String> words;
    private final List<App> apps = new ArrayList<>();
    private final List<String> replaced = new ArrayList<>();
    private int at = 1;
    private int ranks;
    private boolean isCounted = true;

    Reader(List<String> words) {
      this.words = words;
    }

    /** Up to the next {@code :}; whether it only asks about the launcher. */
    boolean readApp() {
      var kept = new ArrayList<String>();
      OptionalInt count = OptionalInt.empty();
      while (at < words.size() && words.get(at).startsWith("-")) {
        String word = words.get(at);
        if (word.equals("--")) {
          at++;
          break;
        }
        String name = word.replaceFirst("^--?", "").replaceFirst("=.*", "");
        if (KNOWN.has("about", name)) {
          return true;
        }
        Optional<String> refusal = KNOWN.refusal(name);
        if (refusal.isPresent()) {
          throw UsageFailure.ofRun(
              words.getFirst() + " " + word + " is not possible here: " + refusal.get());
        }
        List<String> option = words.subList(at, Math.min(words.size(), at + 1 + values(name)));
        at += option.size();
        if (KNOWN.has("counts", name)) {
          count = OptionalInt.of(count(option));
        }
        (isOurs(name, option) ? replaced : kept).addAll(option);
      }
      int end = at;
      while (end < words.size() && !words.get(end).equals(":")) {
        end++;
      }
      if (at == end) {
        throw UsageFailure.ofRun(words.getFirst() + " without a program");
      }
      apps.add(new App(kept, words.subList(at, end)));
      at = end + 1;
      isCounted = isCounted && count.isPresent();
      ranks += count.orElse(0);
      return false;
    }

    private static boolean isOurs(String name, List<String> option) {
      return KNOWN.has("ours", name)
          || (KNOWN.has("parameters", name)
              && option.size() > 1
              && OUR_PARAMETER.matcher(option.get(1)).matches());
    }

    /** An option that is not a known flag has a value, unless what follows is a program. */
    private int values(String name) {
      if (words.get(at).contains("=") || KNOWN.has("flags", name)) {
        return 0;
      }
      if (KNOWN.has("parameters", name) || KNOWN.has("pairs", name)) {
        return 2;
      }
      boolean isKnown = KNOWN.has("counts", name) || KNOWN.has("ours", name);
      String next = at + 1 < words.size() ? words.get(at + 1) : "";
      boolean isValue =
          !next.startsWith("-") && !next.matches("(?:\\./|python).*|.*\\.py") && !next.isEmpty();
      return isKnown || isValue ? 1 : 0;
    }

    private int count(List<String> option) {
      String text = option.getLast().replaceFirst("^.*=", "");
      if (option.size() + (option.getFirst().contains("=") ? 1 : 0) < 2
          || !text.matches("[1-9][0-9]{0,5}")) {
        throw UsageFailure.ofRun(
            words.getFirst() + " " + String.join(" ", option) + " is not a number of ranks");
      }
      return Integer.parseInt(text);
    }
  }
}
