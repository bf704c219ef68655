package dev.gpush.backends.slurm;

import dev.gpush.backends.slurm.cluster.SlurmTime;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.BatchHeaders;
import dev.gpush.core.session.BatchScripts;
import dev.gpush.core.text.PhraseTable;
import dev.gpush.core.text.ShellWords;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The {@code #SBATCH} lines of a script as a request. Read as sbatch reads them: lines that start
 * with exactly that, up to the first command. Options that gpush has become gpush's; options that
 * only Slurm has go to sbatch unchanged; options that cannot apply to a gang are reported.
 */
public final class SbatchScripts implements BatchScripts {
  static final int MAX_LINES = 10_000;

  private static final Pattern HEADER = Pattern.compile("#SBATCH(?:\\s+(.*))?");
  private static final Pattern NODES = Pattern.compile("([0-9]{1,4})(?:-([0-9]{1,4}))?");

  private static final List<Known> OPTIONS =
      PhraseTable.rows(SbatchScripts.class, "sbatch-options.txt", 4).stream()
          .map(row -> new Known(row.get(0), row.get(1), !row.get(2).isEmpty(), row.get(3)))
          .toList();

  /**
   * An option of sbatch.
   *
   * @param letter its short form, if it has one
   * @param isAlone it has no value, or one only after a {@code =}
   * @param excuse why it is not used for a gang; empty if it is
   */
  private record Known(String name, String letter, boolean isAlone, String excuse) {}

  private static Optional<Known> known(String name) {
    return OPTIONS.stream().filter(option -> option.name().equals(name)).findFirst();
  }

  @Override
  public BatchHeaders read(String file, String text) {
    return new Reader(file).read(text);
  }

  /** An option as written, and its line. */
  private record Option(int line, String name, String value) {}

  private static final class Reader {
    private final String file;
    private final List<UsageFailure.BadLine> bad = new ArrayList<>();
    private final Map<String, Option> options = new LinkedHashMap<>();
    private final List<String> natives = new ArrayList<>();
    private final List<String> unused = new ArrayList<>();

    Reader(String file) {
      this.file = file;
    }

    BatchHeaders read(String text) {
      scan(text);
      Optional<Integer> nodes = take("nodes").flatMap(this::nodes);
      Optional<Integer> tasks = take("ntasks").flatMap(this::count);
      Optional<Integer> perNode = take("ntasks-per-node").flatMap(this::count);
      if (nodes.isEmpty() && tasks.isPresent() && perNode.isPresent()) {
        nodes = Optional.of(Math.ceilDiv(tasks.get(), perNode.get()));
      }
      Optional<Integer> has = perNode;
      Optional<Integer> among = nodes;
      int tasksEach = has.or(() -> tasks.map(all -> Math.ceilDiv(all, among.orElse(1)))).orElse(1);
      Optional<GpuRequest> gpus = gpus(nodes, tasksEach);
      Optional<Duration> time = take("time").flatMap(this::time);
      cpus(tasksEach);
      rest();
      if (!bad.isEmpty()) {
        throw new GpushException(new UsageFailure.BadScript(file, bad));
      }
      Optional<Integer> tasksPerNode = has.or(() -> tasks.map(_ -> tasksEach));
      return new BatchHeaders(nodes, gpus, time, tasksPerNode, natives, unused);
    }

    private void scan(String text) {
      boolean isOver = false;
      int number = 0;
      int headers = 0;
      for (String line : text.lines().limit(MAX_LINES).toList()) {
        number++;
        Matcher header = HEADER.matcher(line);
        if (header.matches()) {
          headers++;
          if (isOver) {
            unused.add(
                file + ":" + number + " comes after the first command, where sbatch stops reading");
          } else {
            line(number, Optional.ofNullable(header.group(1)).orElse(""));
          }
        } else if (!line.isBlank() && !line.startsWith("#")) {
          isOver = true;
        }
      }
      if (headers == 0) {
        bad.add(new UsageFailure.BadLine(1, "it has no line that starts with #SBATCH"));
      }
    }

    private void line(int number, String text) {
      ShellWords.Scan scan = ShellWords.scan(text);
      if (!scan.isFinished()) {
        boolean isQuoteOpen = !ShellWords.scan(text + " ").isFinished();
        String what = isQuoteOpen ? "a quote is not closed" : "it ends with a backslash";
        bad.add(new UsageFailure.BadLine(number, what));
        return;
      }
      var left = new ArrayList<String>();
      scan.lines().forEach(line -> left.addAll(line.words()));
      if (left.isEmpty()) {
        bad.add(new UsageFailure.BadLine(number, "no option"));
      }
      while (!left.isEmpty()) {
        option(number, left.removeFirst(), left);
      }
    }

    private void option(int line, String word, List<String> left) {
      if (word.equals("hetjob") || word.equals("packjob")) {
        bad.add(new UsageFailure.BadLine(line, "a heterogeneous job cannot be a gang"));
        return;
      }
      String name;
      Optional<String> value = Optional.empty();
      if (word.startsWith("--") && word.length() > 2) {
        int equals = word.indexOf('=');
        name = word.substring(2, equals < 0 ? word.length() : equals);
        value = equals < 0 ? Optional.empty() : Optional.of(word.substring(equals + 1));
      } else if (word.matches("-[A-Za-z].*")) {
        String letter = word.substring(1, 2);
        Optional<Known> meant =
            OPTIONS.stream().filter(option -> option.letter().equals(letter)).findFirst();
        if (meant.isEmpty()) {
          bad.add(new UsageFailure.BadLine(line, "sbatch has no option -" + letter));
          return;
        }
        name = meant.get().name();
        value =
            word.length() == 2
                ? Optional.empty()
                : Optional.of(word.substring(2).replaceFirst("^=", ""));
      } else {
        bad.add(new UsageFailure.BadLine(line, "'" + word + "' is not an option"));
        return;
      }
      boolean isAlone = known(name).map(Known::isAlone).orElse(false);
      if (value.isEmpty() && !isAlone && !left.isEmpty() && !left.getFirst().startsWith("-")) {
        value = Optional.of(left.removeFirst());
      }
      boolean hasLetter = known(name).filter(option -> !option.letter().isEmpty()).isPresent();
      if (value.isEmpty() && hasLetter && !isAlone) {
        bad.add(new UsageFailure.BadLine(line, "--" + name + " has no value"));
        return;
      }
      // If an option is given twice, the last one counts, as with sbatch.
      options.put(name, new Option(line, name, value.orElse("")));
    }

    private Optional<Option> take(String name) {
      return Optional.ofNullable(options.remove(name));
    }

    private <T> Optional<T> wrong(Option option, String rule) {
      bad.add(
          new UsageFailure.BadLine(
              option.line(),
              "--" + option.name() + " cannot be '" + option.value() + "'; it must be " + rule));
      return Optional.empty();
    }

    private Optional<Integer> nodes(Option option) {
      Matcher match = NODES.matcher(option.value());
      if (!match.matches()
          || Integer.parseInt(match.group(1)) < 1
          || Integer.parseInt(match.group(1)) > GangRequest.MAX_NODES) {
        return wrong(option, "a number from 1 to " + GangRequest.MAX_NODES + ", or a range");
      }
      if (match.group(2) != null && !match.group(2).equals(match.group(1))) {
        unused.add(
            "--nodes="
                + option.value()
                + " (a gang has one size: "
                + match.group(1)
                + ", unless --nodes says more)");
      }
      return Optional.of(Integer.valueOf(match.group(1)));
    }

    private Optional<Integer> count(Option option) {
      return option.value().matches("[1-9][0-9]{0,5}")
          ? Optional.of(Integer.valueOf(option.value()))
          : wrong(option, "a number from 1");
    }

    // ---- GPUs

    private Optional<GpuRequest> gpus(Optional<Integer> nodes, int tasksEach) {
      Optional<GpuRequest> found = Optional.empty();
      Optional<Option> gres = take("gres");
      if (gres.isPresent()) {
        found = gres(gres.get());
      }
      Optional<Option> total = take("gpus");
      if (total.isPresent()) {
        found = request(total.get()).flatMap(all -> each(total.get(), all, nodes.orElse(1)));
      }
      Optional<Option> perTask = take("gpus-per-task");
      if (perTask.isPresent()) {
        found = request(perTask.get()).flatMap(one -> times(perTask.get(), one, tasksEach));
      }
      Optional<Option> perNode = take("gpus-per-node");
      return perNode.isPresent() ? perNode.flatMap(this::request) : found;
    }

    /** {@code gpu:h100:8,nvme:1}: resources that are not GPUs go to Slurm unchanged. */
    private Optional<GpuRequest> gres(Option option) {
      Optional<GpuRequest> found = Optional.empty();
      var others = new ArrayList<String>();
      for (String part : option.value().split(",", -1)) {
        String plain = part.replaceFirst("\\(.*\\)$", "").replaceFirst("^gres[:/]", "");
        if (plain.equals("gpu")) {
          found = Optional.of(new GpuRequest(Optional.empty(), 1));
        } else if (plain.startsWith("gpu:")) {
          found = request(new Option(option.line(), option.name(), plain.substring(4)));
        } else if (part.isBlank()) {
          return wrong(option, "such as gpu:h100:8");
        } else {
          others.add(part);
        }
      }
      if (!others.isEmpty()) {
        natives.add("--gres=" + String.join(",", others));
      }
      return found;
    }

    private Optional<GpuRequest> request(Option option) {
      try {
        return Optional.of(GpuRequest.parse(option.value()));
      } catch (GpushException notThat) {
        return wrong(option, "a number, or a type and a number: h100:8");
      }
    }

    private Optional<GpuRequest> each(Option option, GpuRequest all, int nodes) {
      return all.count() % nodes == 0
          ? Optional.of(new GpuRequest(all.model(), all.count() / nodes))
          : wrong(option, "a multiple of the " + nodes + " nodes: all nodes of a gang are equal");
    }

    private Optional<GpuRequest> times(Option option, GpuRequest one, int tasks) {
      return one.count() * (long) tasks <= 1024
          ? Optional.of(new GpuRequest(one.model(), one.count() * tasks))
          : wrong(option, "at most 1024 in a node");
    }

    // ---- the rest

    private Optional<Duration> time(Option option) {
      String value = option.value();
      if (Set.of("unlimited", "infinite", "0").contains(value.toLowerCase(Locale.ROOT))) {
        unused.add("--time=" + value + " (the backend's default time applies; use --for)");
        return Optional.empty();
      }
      Optional<Duration> limit = SlurmTime.span(value);
      if (limit.isEmpty()) {
        return wrong(option, "minutes, H:M:S, D-H or D-H:M:S");
      }
      if (limit.get().isZero()) {
        return wrong(option, "longer than 0");
      }
      natives.add("--time=" + SlurmTime.limit(limit.get()));
      return limit;
    }

    /** One agent gets the CPUs of all tasks of its node. */
    private void cpus(int tasksEach) {
      Optional<Option> perTask = take("cpus-per-task");
      perTask
          .flatMap(this::count)
          .ifPresent(each -> natives.add("--cpus-per-task=" + each * tasksEach));
    }

    private void rest() {
      for (Option option : options.values()) {
        String written =
            "--" + option.name() + (option.value().isEmpty() ? "" : "=" + option.value());
        Optional<String> why =
            known(option.name()).map(Known::excuse).filter(excuse -> !excuse.isEmpty());
        if (why.isPresent()) {
          unused.add(written + " (" + why.get() + ")");
        } else if (option.name().startsWith("ntasks-per-")) {
          unused.add(written + " (gpush run places the ranks)");
        } else {
          natives.add(written);
        }
      }
    }
  }
}
