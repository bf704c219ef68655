package dev.gpush.shell.command.reach;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.text.RawText;
import dev.gpush.core.text.ShellQuote;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "ssh",
    header = "Open a shell on a node with your own ssh",
    customSynopsis = "gpush ssh [OPTIONS] [NAME[-NODE]] [COMMAND [ARGS]]",
    description = {
      "Starts ssh with gpush's own configuration file, so it works without gpush link. If the first"
          + " word is the name of a session, or a name with a node (devbox-1), ssh goes there; all"
          + " other words are a command for the node. The exit status is that of ssh."
    },
    footer = {"$ gpush ssh devbox-1 hostname", "n2"})
public final class SshCommand implements Action.OfWords {
  @Option(names = "--on", paramLabel = "NODE", description = "this node, not node 0")
  Optional<String> on;

  private List<String> words = List.of();

  @Override
  public void words(List<String> given) {
    words = List.copyOf(given);
  }

  @Override
  public boolean hasJson() {
    return false;
  }

  @Override
  public int run(Call call) throws InterruptedException {
    Optional<String> host = words.stream().findFirst().filter(word -> isHost(call, word));
    List<String> command = host.isPresent() ? words.subList(1, words.size()) : words;
    if (host.isPresent() && (call.common().session.isPresent() || on.isPresent())) {
      throw Values.bad("ssh", host.get() + " already says which node; leave out -s and --on");
    }
    boolean isForAll = on.filter("all"::equals).isPresent();
    if (isForAll || (host.isEmpty() && command.stream().limit(1).anyMatch("all"::equals))) {
      throw oneNodeOnly(isForAll ? command : command.subList(1, command.size()));
    }
    String target = host.isPresent() ? host.get() : target(call);
    var line = new ArrayList<String>();
    line.addAll(
        List.of("ssh", "-F", call.services().gateway().ssh().configFile().toString(), target));
    line.addAll(command);
    return call.invocation().spawn(passable(line), Map.of());
  }

  /** The client's JVM would lose bytes that are not UTF-8 when it starts a program; sh does not. */
  private static List<String> passable(List<String> line) {
    return line.stream().allMatch(RawText::isUtf8)
        ? line
        : List.of("/bin/sh", "-c", "exec " + ShellQuote.join(line));
  }

  private static GpushException oneNodeOnly(List<String> command) {
    String words = command.isEmpty() ? "hostname" : ShellQuote.join(command);
    return new GpushException(
        new UsageFailure.BadArguments(
            "ssh", "ssh reaches one node at a time", List.of("exec --all " + words)));
  }

  private String target(Call call) {
    SessionView session = call.session();
    int node = call.node(session, on);
    return session.name() + (node == 0 ? "" : "-" + node);
  }

  private static boolean isHost(Call call, String word) {
    return call.services().sessions().list().stream()
        .anyMatch(
            session ->
                word.equals(session.name().text())
                    || session.nodes().stream()
                        .anyMatch(node -> word.equals(session.name() + "-" + node.info().index())));
  }
}
