package dev.gpush.shell.command.call;

import dev.gpush.control.server.Invocation;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.text.SessionCommands;
import dev.gpush.shell.console.CommandConsole;
import dev.gpush.shell.console.ConsoleTalk;
import dev.gpush.shell.render.Table;
import dev.gpush.shell.render.TraceText;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One command in progress: its user, its folder, and its outputs.
 *
 * @param words the command line, verb first
 */
public record Call(
    Services services,
    Invocation invocation,
    CommandConsole console,
    ConsoleTalk talk,
    Common common,
    List<String> words,
    ToldShells toldShells) {

  public Path folder() {
    return invocation.folder();
  }

  public Map<String, String> environment() {
    return invocation.environment();
  }

  public Instant now() {
    return services.timing().clock().now();
  }

  /** Where the user reads times: {@code $TZ} if it names a zone, else as this machine has it. */
  public ZoneId zone() {
    String name = environment().getOrDefault("TZ", "");
    try {
      return ZoneId.of(name.startsWith(":") ? name.substring(1) : name);
    } catch (DateTimeException noZone) {
      return ZoneId.systemDefault();
    }
  }

  /** Whether it was typed at the prompt of gpush. */
  public boolean isInShell() {
    return ToldShells.isShell(environment());
  }

  /** This call, about the session of this name. */
  public Call about(String session) {
    var named = new Common();
    named.session = Optional.of(session);
    return new Call(services, invocation, console, talk, named, words, toldShells);
  }

  /** -s NAME, else $GPUSH_SESSION. */
  public Optional<String> named() {
    return common.session.or(
        () ->
            Optional.ofNullable(environment().get("GPUSH_SESSION"))
                .filter(name -> !name.isEmpty()));
  }

  /** Commands about the session of this one, if it was named on the command line. */
  public SessionCommands commands() {
    return new SessionCommands(common.session);
  }

  /** What went wrong, in sentences with commands that go on from this one. */
  public FailureText failures() {
    return new FailureText(words, commands());
  }

  /** {@link #named} where a name may be new. */
  public Optional<SessionName> newName() {
    return named().map(SessionName::parse);
  }

  /**
   * The session that the command is about. If it was not named and belongs to another folder,
   * because it is the only one, the user is told.
   */
  public SessionView session() {
    return named().isPresent() ? session(named()) : onlyOrOwn();
  }

  /** The session of this name; without a name as {@link #session()}. */
  public SessionView session(Optional<String> name) {
    return name.isPresent() ? choose(name) : onlyOrOwn();
  }

  /** Its nodes are asked for their state. */
  private SessionView choose(Optional<String> name) {
    try (Talk.Step _ = talk.step("asking the nodes")) {
      return services.sessions().choose(name, folder());
    }
  }

  private SessionView onlyOrOwn() {
    SessionView session = choose(named());
    if (isOfAnotherFolder(session)
        && toldShells.isNews(environment(), session.id() + " in " + folder())) {
      say("using " + session.name() + " of " + folderOf(session) + ", the only session there is");
    }
    return session;
  }

  /** As {@link #session()}, without a message. */
  public SessionView silently() {
    return services.sessions().choose(named(), folder());
  }

  /**
   * The session that the command ends, or ends something of. Asks about one that was not named and
   * belongs to another folder; {@code --yes} does not answer that, because it was typed before the
   * user could know which session it would be.
   *
   * @param question the question's verb, such as {@code give back}
   */
  public SessionView sessionToEnd(Optional<String> name, String question) {
    SessionView session = choose(name.or(this::named));
    if (name.isEmpty() && named().isEmpty() && isOfAnotherFolder(session)) {
      talk.confirm(
          question + " " + session.name() + ", which belongs to " + folderOf(session) + "?",
          "-s " + session.name());
    }
    return session;
  }

  /** The node of {@code --on}; without it, node 0. */
  public int node(SessionView session, Optional<String> on) {
    int node = on.map(text -> Values.number("--on", text, 0, Integer.MAX_VALUE)).orElse(0);
    String name = session.name().text();
    if (session.state().isWaiting()) {
      throw new GpushException(new SessionFailure.Queued(name, session.detail()));
    }
    int nodes = session.nodes().size();
    if (node >= nodes && nodes > 0) {
      throw new GpushException(new SessionFailure.UnknownNode(name, node, nodes));
    }
    return node;
  }

  /** The node of {@code --on}; without it, the one where people edit. */
  public int editNode(SessionView session, Optional<String> on) throws InterruptedException {
    if (on.isPresent()) {
      return node(session, on);
    }
    try (Talk.Step _ = talk.step("asking the nodes where people edit")) {
      return services.sessions().editNode(session.name());
    }
  }

  /** The user's folder; that of the session, if the user is elsewhere. */
  public Path inside(SessionView session) {
    return folder().startsWith(session.root()) ? folder() : session.root();
  }

  /** A path that was typed in the user's folder as one of the workspace, whose own is empty. */
  public String insideWorkspace(SessionView session, String path) {
    Path root = session.root();
    try {
      Path file = inside(session).resolve(path).normalize();
      if (file.startsWith(root)) {
        return root.relativize(file).toString();
      }
    } catch (InvalidPathException invalid) {
      throw new GpushException(new UsageFailure.BadValue("PATH", path, "a file name"), invalid);
    }
    throw new GpushException(
        new UsageFailure.BadValue("PATH", path, "a path inside the workspace " + root));
  }

  /** What a run of nothing would have: for questions about its variables and network. */
  public RunRequest.Command noCommand() {
    return new RunRequest.Command(List.of(), folder(), Optional.empty(), environment(), Map.of());
  }

  private boolean isOfAnotherFolder(SessionView session) {
    return !services.configs().load(folder()).root().equals(session.root());
  }

  /** The folder with the home folder as a tilde. */
  public String shortened(Path folder) {
    String home = environment().getOrDefault("HOME", "");
    if (home.length() > 1 && folder.startsWith(home)) {
      Path rest = Path.of(home).relativize(folder);
      return rest.toString().isEmpty() ? "~" : "~/" + rest;
    }
    return folder.toString();
  }

  private String folderOf(SessionView session) {
    return shortened(session.root());
  }

  /** Writes a failure that does not end this command, as one of these words. */
  public void write(Failure failure, List<String> as) {
    console.write(true, console.look().bytes(new FailureText(as, commands()).of(failure)));
  }

  public void say(String line) {
    talk.say(line);
  }

  /** With -v: how long a start took, for people. */
  public void printTrace(Trace trace) {
    if (common.verbose) {
      TraceText.table(trace, console.look().columns()).forEach(this::say);
    }
  }

  public void print(Json json) {
    console.out(json.pretty());
  }

  /** One value on a line of its own, for output that is read line by line. */
  public void printLine(Json json) {
    console.out(json.write());
  }

  public void print(Table table) {
    var text = new StringBuilder();
    table.lines(console.look().columns()).forEach(line -> text.append(line).append('\n'));
    print(text.toString());
  }

  /** Prints text unchanged. */
  public void print(String text) {
    print(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Prints bytes that need not be text. */
  public void print(byte[] bytes) {
    console.write(false, bytes);
  }
}
