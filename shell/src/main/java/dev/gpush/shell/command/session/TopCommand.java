package dev.gpush.shell.command.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Streams;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.text.Worded;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.SampleDocuments;
import dev.gpush.shell.text.Look;
import dev.gpush.shell.top.ScreenLine;
import dev.gpush.shell.top.TopLoop;
import dev.gpush.shell.top.TopPicture;
import dev.gpush.shell.top.TopPictures;
import dev.gpush.shell.top.TopScreen;
import dev.gpush.shell.top.TopView;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "top",
    header = "Watch GPUs, nodes and ranks of a session",
    description = {
      "Of each GPU utilisation, memory, power and its limit, temperature, the clock and why it is"
          + " throttled; of each node processors, memory, network, RDMA and the room in the"
          + " workspace; of each run its processes and, if it prints them, its steps, their rate and"
          + " how that differs from the run's median. What differs from its like comes first, with a"
          + " !. Nodes are sampled only as long as this runs. Keys: q ends, s sorts, / filters,"
          + " arrows and Enter or a number open a node, Esc goes back. Without a terminal, and with"
          + " --once, it prints one picture; with --json a document for each."
    },
    footer = {
      "$ gpush top --once",
      "RUN STATE   RANKS PROCESSES   NODES AGE COMMAND",
      "  7 running     2 2 computing 0,1    2m train.py",
      "NODE HOST CPU  MEMORY FREE DISK NET IN  OUT",
      "   0 lab1 71% 8.1/62G      410G   1.2k 3.4k",
      "   1 lab1 71% 8.1/62G      410G   1.2k 3.4k"
    })
public final class TopCommand implements Action {
  public static final List<String> SORTS =
      Arrays.stream(TopView.Sort.values()).map(TopView.Sort::word).toList();

  private static final double LEAST = 0.1;
  private static final double MOST = 3600;

  @Option(names = "--node", paramLabel = "NODE", description = "only this one, in detail")
  Optional<String> node;

  @Option(
      names = "--sort",
      paramLabel = "SORT",
      description = "by util, mem, power, temp, the highest first, or node")
  Optional<String> sort;

  @Option(
      names = "--interval",
      paramLabel = "SECONDS",
      description = "between two samples of a node (1)")
  Optional<String> interval;

  @Option(names = "--once", description = "one picture, then end")
  boolean once;

  @Option(names = "--json", description = "each picture as a line of JSON")
  boolean json;

  @Override
  public int run(Call call) throws InterruptedException {
    TopView.Sort by = sort.map(TopCommand::sort).orElse(TopView.Sort.NODE);
    Optional<Integer> only = node.map(text -> Values.number("--node", text, 0, Integer.MAX_VALUE));
    Duration asked = interval.map(TopCommand::seconds).orElse(Duration.ofSeconds(1));
    Optional<Streams.Terminal> screen =
        call.invocation()
            .terminal()
            .filter(terminal -> !terminal.type().isEmpty() && !terminal.type().equals("dumb"))
            .filter(_ -> !Look.isPlain(call.environment()));
    boolean isOnce = once || (!json && screen.isEmpty());
    Duration pause = isOnce && interval.isEmpty() ? TopPictures.BRIEF : asked;
    SessionView session = call.session();
    TopView view = TopView.of(by, only);
    try (var pictures =
        new TopPictures(
            call.services().runs(), call.services().timing().clock(), session, only, pause)) {
      if (isOnce) {
        print(call, session, view, settled(call, pictures));
        return 0;
      }
      if (!json) {
        return new TopLoop(call.invocation(), call.console(), view)
            .run(screen.orElseThrow(), pictures::next);
      }
      while (true) {
        call.printLine(SampleDocuments.picture(session.name().text(), pictures.next()));
      }
    }
  }

  private static TopPicture settled(Call call, TopPictures pictures) throws InterruptedException {
    try (Talk.Step _ = call.talk().step("sampling the nodes")) {
      return pictures.settled();
    }
  }

  private void print(Call call, SessionView session, TopView view, TopPicture picture) {
    if (json) {
      call.print(SampleDocuments.picture(session.name().text(), picture));
      return;
    }
    for (ScreenLine line : TopScreen.all(picture, view, call.console().look().columns())) {
      call.print(line.text() + "\n");
    }
  }

  private static TopView.Sort sort(String text) {
    return Worded.of(TopView.Sort.class, text.toLowerCase(Locale.ROOT))
        .orElseThrow(() -> bad("--sort", text, "one of " + String.join(", ", SORTS)));
  }

  private static Duration seconds(String text) {
    boolean isNumber = text.matches("[0-9]{1,4}([.][0-9]{1,3})?");
    double seconds = isNumber ? Double.parseDouble(text) : 0;
    if (seconds < LEAST || seconds > MOST) {
      throw bad("--interval", text, "a number of seconds from 0.1 to 3600");
    }
    return Duration.ofMillis(Math.round(seconds * 1000));
  }

  private static GpushException bad(String option, String text, String rule) {
    return new GpushException(new UsageFailure.BadValue(option, text, rule));
  }
}
