package dev.gpush.shell.command.reach;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.CopyProgram;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "cp",
    header = "Copy data to or from a node; continues where it stopped",
    customSynopsis = "gpush cp [OPTIONS] SOURCE... TARGET",
    description = {
      "One side is on this machine, the other is NAME:PATH on a node. NAME is a session (devbox), a"
          + " session with a node (devbox-1), a node of this folder's session (1), all for every"
          + " node of it, or nothing for its node 0. A relative PATH begins in the node's home"
          + " folder, as with scp. Folders are copied whole, with modes, times and links. A folder"
          + " becomes PATH; with a slash behind it, or several sources, all go into PATH. What is"
          + " there with the same size and time is not sent again, a newer file is not replaced,"
          + " and the same command continues a copy that was interrupted, after it has compared"
          + " what is there. PATH may be a pattern ('devbox:runs/*.pt')."
    },
    footer = {
      "$ gpush cp ckpt devbox:ckpt",
      "devbox: copied 3 files, 12.4 GiB in 1m 31s (139.5 MiB/s)",
      "$ gpush cp 'devbox:ckpt/*.pt' best/",
      "devbox: copied 2 files, 41.5 KiB in 0s"
    })
public final class CopyCommand implements Action {
  private static final Pattern WITH_NODE = Pattern.compile("(.+)-(0|[1-9][0-9]{0,5})");
  private static final Pattern NODE = Pattern.compile("0|[1-9][0-9]{0,5}");
  private static final int MOST_STREAMS = 16;

  /** As the agent is started: no module of the user's own is loaded, nothing is written. */
  private static final List<String> PYTHON = List.of("python3", "-I", "-S", "-B", "-X", "utf8");

  @Parameters(arity = "0..*", paramLabel = "PLACE", description = "what, and where to")
  List<String> places = new ArrayList<>();

  @Option(
      names = {"-r", "-p"},
      description = "accepted as by scp; folders, modes and times are always copied")
  boolean accepted;

  @Option(
      names = {"-f", "--force"},
      description = "replace newer files, and links by files")
  boolean force;

  @Option(names = "--checksum", description = "compare contents, not sizes and times")
  boolean checksum;

  @Option(names = "--dry-run", description = "show what would be copied; copy nothing")
  boolean dryRun;

  @Option(
      names = "--streams",
      paramLabel = "N",
      description = "blocks under way at once, 4 unless given; more for long distances")
  Optional<String> streams;

  @Override
  public int run(Call call) throws InterruptedException {
    if (places.size() < 2) {
      throw Values.bad("cp", "it needs what to copy, and where to");
    }
    List<CopyPath> sources =
        places.subList(0, places.size() - 1).stream().map(CopyPath::of).toList();
    CopyPath target = CopyPath.of(places.getLast());
    boolean isUp = !target.isHere();
    String node = isUp ? target.node().orElseThrow() : source(sources);
    if (isUp && sources.stream().anyMatch(source -> !source.isHere())) {
      throw Values.bad("cp", "it copies to or from this machine, not from node to node");
    }
    SessionView session = session(call, node);
    List<Integer> nodes = nodes(session, node);
    if (!isUp && node.equals(CopyPath.ALL)) {
      throw Values.bad(
          "cp", "files of all nodes would have the same names here; copy from one node at a time");
    }
    var line = new ArrayList<>(PYTHON);
    CopyProgram program = call.services().gateway().copy();
    line.add(program.file().toString());
    line.add(spec(call, program, session, nodes, isUp).write());
    sources.forEach(source -> line.add(Json.of(source.path()).write()));
    line.add(Json.of(target.path()).write());
    return call.invocation().spawn(List.copyOf(line), Map.of());
  }

  /** The one node that all sources are on. */
  private static String source(List<CopyPath> sources) {
    List<String> nodes = sources.stream().flatMap(each -> each.node().stream()).distinct().toList();
    boolean isMixed = sources.stream().anyMatch(CopyPath::isHere);
    if (nodes.isEmpty()) {
      throw Values.bad("cp", "one side must be on a node, as in devbox:PATH or :PATH");
    }
    if (nodes.size() > 1 || isMixed) {
      throw Values.bad("cp", "all sources must be on the same node");
    }
    return nodes.getFirst();
  }

  private static SessionView session(Call call, String node) {
    if (node.isEmpty() || node.equals(CopyPath.ALL) || NODE.matcher(node).matches()) {
      return call.session();
    }
    if (call.common().session.isPresent()) {
      throw Values.bad("cp", node + ": already says which session; leave out -s");
    }
    Matcher numbered = WITH_NODE.matcher(node);
    return call.session(Optional.of(numbered.matches() ? numbered.group(1) : node));
  }

  private static List<Integer> nodes(SessionView session, String text) {
    int size = session.nodes().size();
    if (text.equals(CopyPath.ALL)) {
      return IntStream.range(0, size).boxed().toList();
    }
    Matcher numbered = WITH_NODE.matcher(text);
    int node =
        NODE.matcher(text).matches()
            ? Integer.parseInt(text)
            : numbered.matches() ? Integer.parseInt(numbered.group(2)) : 0;
    if (node >= size && size > 0) {
      throw new GpushException(new SessionFailure.UnknownNode(session.name().text(), node, size));
    }
    return List.of(node);
  }

  private Json.Obj spec(
      Call call, CopyProgram program, SessionView session, List<Integer> nodes, boolean isUp) {
    int many = streams.map(text -> Values.number("--streams", text, 1, MOST_STREAMS)).orElse(4);
    return Json.object(
        "up",
        isUp,
        "session",
        session.name().text(),
        "nodes",
        nodes,
        "place",
        program.place(),
        "options",
        Json.object(
            "force",
            force,
            "checksum",
            checksum,
            "dry_run",
            dryRun,
            "streams",
            many,
            "json",
            call.common().json,
            "quiet",
            call.common().quiet,
            "progress",
            call.console().look().progress()));
  }
}
