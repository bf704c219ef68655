package dev.gpush.shell.command.run;

import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Streams;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.console.JsonLines;
import dev.gpush.shell.console.OutputPump;
import dev.gpush.shell.console.RunPrinter;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "exec",
    header = "Run a command on one node or all of them",
    customSynopsis = "gpush exec [OPTIONS] COMMAND [ARGS]",
    description = {
      "Runs on node 0 with your input, output and signals, as ssh does. Options end at the first"
          + " word. A single word with spaces in it goes to sh -c. With several nodes, each line"
          + " begins with its node, and there is no input, as with --json; on a terminal a line that nodes print"
          + " alike is shown once, and of each line the first 16 KiB. The exit status is"
          + " the command's, or 255 if gpush itself fails."
    },
    footer = {"$ gpush exec --all hostname", "node 0: n1", "node 1: n2"})
public final class ExecCommand implements Action.OfWords {
  @Option(names = "--on", paramLabel = "NODES", description = "on these nodes: 1, or 0,2-3")
  Optional<String> on;

  @Option(names = "--all", description = "on all nodes")
  boolean all;

  @Option(
      names = {"-t", "--tty"},
      description = "with a terminal, for full-screen programs")
  boolean tty;

  private List<String> words = List.of();

  @Override
  public void words(List<String> given) {
    words = List.copyOf(given);
  }

  @Override
  public int run(Call call) throws InterruptedException {
    if (words.isEmpty()) {
      throw Values.bad("exec", "it needs a command; gpush ssh opens a shell");
    }
    if (all && on.isPresent()) {
      throw Values.bad("exec", "--all and --on cannot be used together");
    }
    if (call.common().json && tty) {
      throw Values.bad("exec", "--json and --tty cannot be used together");
    }
    List<Integer> listed = Values.numbers("--on", on).stream().toList();
    SessionView session = call.session();
    List<Integer> nodes =
        all ? IntStream.range(0, session.nodes().size()).boxed().toList() : listed;
    if (tty && nodes.size() > 1) {
      throw Values.bad("exec", "a terminal works with one node only");
    }
    boolean terminal = tty && call.invocation().terminal().isPresent();
    if (tty && !terminal) {
      call.say("no terminal on the node, because there is none here");
    }
    int node = nodes.stream().findFirst().orElse(0);
    if (call.common().json) {
      return lines(call, session, nodes.isEmpty() ? List.of(node) : nodes);
    }
    if (nodes.size() > 1) {
      return several(call, session, nodes, OutputChoice.ofNodes(call, nodes.size()));
    }
    return terminal ? raw(call, session, node) : exec(call, session, node, false);
  }

  private int lines(Call call, SessionView session, List<Integer> nodes)
      throws InterruptedException {
    RunPrinter printer = JsonLines.ofNodes(new OutputPump(call.console()));
    int status = several(call, session, nodes, printer);
    call.printLine(Json.object("type", "end", "exit", status));
    return status;
  }

  private int several(Call call, SessionView session, List<Integer> nodes, RunPrinter to)
      throws InterruptedException {
    try (RunPrinter printer = to) {
      return call.services()
          .runs()
          .exec(session.name(), nodes, command(), call.environment(), printer);
    }
  }

  private int raw(Call call, SessionView session, int node) throws InterruptedException {
    try (Streams.Raw _ = call.invocation().terminal().orElseThrow().raw()) {
      return exec(call, session, node, true);
    }
  }

  private int exec(Call call, SessionView session, int node, boolean terminal)
      throws InterruptedException {
    return call.services()
        .runs()
        .exec(session.name(), node, command(), terminal, call.environment(), call.invocation());
  }

  private List<String> command() {
    boolean line = words.size() == 1 && words.getFirst().chars().anyMatch(Character::isWhitespace);
    return line ? List.of("/bin/sh", "-c", words.getFirst()) : words;
  }
}
