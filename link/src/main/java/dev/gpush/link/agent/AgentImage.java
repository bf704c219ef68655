package dev.gpush.link.agent;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.gang.AgentFolder;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.core.text.AgentCode;
import dev.gpush.core.text.Resource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;
import java.util.zip.DeflaterOutputStream;

/**
 * The agent's source, as it is packed beside this class, and how it is started
 * (docs/technical/link.md section 1). Thread-safe.
 *
 * <p>The text of probe and loader goes on the command line, because they are fixed; everything else
 * goes through stdin in the same write, so starting costs no round trip. A pipe's stderr is read
 * for as long as it lives: a relay must not stop because warnings have filled it.
 */
public final class AgentImage implements AgentProgram {
  /** Written by the build beside this class: one path per line, sorted. */
  private static final String INDEX = "index.txt";

  /**
   * How long loader and agent may take until the preamble: enough for a cold network file system
   * and a login banner, not for a user's input.
   */
  private static final Duration BEGIN_LIMIT = Duration.ofSeconds(60);

  /**
   * How long one question may take: a release stops runs, which have a grace time, and removes what
   * may be many files.
   */
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(620);

  /** An answer to {@code list} names every agent of a user on a host. */
  private static final int MAX_ANSWER = 4 << 20;

  private static final int PREAMBLE_BYTES = 16;

  /** The first request on a pipe that becomes a link later. */
  private static final Json.Obj STATUS = Json.object("do", "status", "then", "link");

  private static final String PROBE_FILE = "probe.sh";
  private static final String LOADER_FILE = "loader.py";
  private static final String START_FILE = "start";

  /** The options with which probe.sh and relay.sh start Python. */
  private static final List<String> OPTIONS = List.of("-I", "-S", "-B", "-X", "utf8", "-u", "-c");

  /** The exit statuses of the agent's own programs when they fail. */
  private static final Set<Integer> OWN_STATUS = Set.of(94, 95, 96, 97, 98);

  /** What they say when they end without reading their input, and their exit status then. */
  private static final Map<String, Integer> UNREAD =
      Map.of("no-python", 97, "python-broken", 97, "python-too-old", 98);

  /** What srun writes of a command that failed, possibly in the middle of a line of it. */
  private static final Pattern SRUN_ENDED =
      Pattern.compile("srun: error: [^\\n]*?: tasks? [^\\n]*?: Exited with exit code [0-9]+\\n?");

  /** Packed once: it takes longer than all else here. */
  private static final byte[] PACKED = pack(Map.of());

  private final Tasks tasks;
  private final RandomGenerator random;
  private final byte[] source;
  private final String probe = Resource.text(AgentImage.class, PROBE_FILE);
  private final String loader = Resource.text(AgentImage.class, LOADER_FILE);
  private final String relayProbe = Resource.text(AgentImage.class, "host/relay.sh");
  private final String relay = Resource.text(AgentImage.class, "host/relay.py");

  /**
   * @param tasks for reading the pipes' stderr and for time limits
   * @param random for preambles; unguessable, so that no login banner can hold one
   */
  public AgentImage(Tasks tasks, RandomGenerator random) {
    this(tasks, random, PACKED);
  }

  /**
   * An agent that is changed for a test.
   *
   * @param instead texts of modules by their paths without {@code .py}; others may be new
   */
  public AgentImage(Tasks tasks, RandomGenerator random, Map<String, String> instead) {
    this(tasks, random, pack(instead));
  }

  private AgentImage(Tasks tasks, RandomGenerator random, byte[] source) {
    this.tasks = tasks;
    this.random = random;
    this.source = source;
  }

  /** The agent's modules by their paths, as in {@code link/frames}, sorted. */
  static List<String> modules() {
    return Resource.text(AgentImage.class, INDEX)
        .lines()
        .filter(name -> name.endsWith(".py"))
        .map(name -> name.substring(0, name.length() - 3))
        .toList();
  }

  private static byte[] pack(Map<String, String> instead) {
    var texts = new TreeMap<String, String>();
    for (String name : modules()) {
      String file = name + ".py";
      // The loader goes on the command line.
      if (!file.equals(LOADER_FILE)) {
        texts.put(name, Resource.text(AgentImage.class, file));
      }
    }
    texts.putAll(instead);
    var packed = new ByteArrayOutputStream();
    try (OutputStream deflater = new DeflaterOutputStream(packed)) {
      deflater.write(Json.of(texts).write().getBytes(StandardCharsets.UTF_8));
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return packed.toByteArray();
  }

  @Override
  public List<String> arguments(List<String> interpreters) {
    if (interpreters.isEmpty()) {
      throw new IllegalArgumentException("no interpreters to try");
    }
    return isOne(interpreters)
        ? program(interpreters, List.of(loader))
        : tried(List.of("/bin/sh", "-c", probe, "sh", loader), interpreters);
  }

  private static boolean isOne(List<String> interpreters) {
    return interpreters.size() > 1 && interpreters.getFirst().equals(ONE);
  }

  private static List<String> program(List<String> one, List<String> text) {
    var arguments = new ArrayList<>(one.subList(1, one.size()));
    arguments.addAll(OPTIONS);
    arguments.addAll(text);
    return List.copyOf(arguments);
  }

  private static List<String> tried(List<String> shell, List<String> interpreters) {
    var arguments = new ArrayList<>(shell);
    arguments.addAll(interpreters);
    return List.copyOf(arguments);
  }

  @Override
  public List<String> relayArguments(
      List<String> interpreters, GangId gang, int node, Duration patience) {
    List<String> text =
        List.of(relay, AgentFolder.name(gang, node), "wait=" + patience.toSeconds());
    if (isOne(interpreters)) {
      return program(interpreters, text);
    }
    var shell = new ArrayList<>(List.of("/bin/sh", "-c", relayProbe, "sh"));
    shell.addAll(text);
    return tried(shell, interpreters);
  }

  @Override
  public boolean beginRelay(Pipe pipe) throws IOException {
    return beginRelay(pipe, Duration.ZERO);
  }

  @Override
  public Json status(Pipe relay, Duration limit) throws IOException {
    Work<Json, IOException> status =
        () -> {
          relay.input().write((STATUS.write() + "\n").getBytes(StandardCharsets.UTF_8));
          relay.input().flush();
          return answer(relay.output());
        };
    return within(limit, relay, "agent-status", status);
  }

  @Override
  public boolean beginRelay(Pipe pipe, Duration patience) throws IOException {
    Start start =
        start(
            pipe,
            BEGIN_LIMIT.plus(patience),
            preamble -> (preamble + "\n").getBytes(StandardCharsets.US_ASCII));
    if (start.isThere()) {
      return true;
    }
    if (OWN_STATUS.contains(start.status())) {
      return false;
    }
    throw new GpushException(failure(start.status(), Json.object(), start.errors(), start.noise()));
  }

  @Override
  public void begin(Pipe pipe, Json.Obj header) throws IOException {
    begin(pipe, header, BEGIN_LIMIT);
  }

  @Override
  public byte[] packet(Json.Obj header) {
    return whole(header.with("preamble", preamble()).with("source", source.length));
  }

  @Override
  public Map<String, byte[]> files(Json.Obj header) {
    return Map.of(
        PROBE_FILE,
        probe.getBytes(StandardCharsets.UTF_8),
        LOADER_FILE,
        loader.getBytes(StandardCharsets.UTF_8),
        START_FILE,
        packet(header));
  }

  @Override
  public List<String> commandIn(String folder, List<String> interpreters) {
    // There may be no shell that could open the file for input.
    String text =
        "import os\nos.dup2(os.open(%s, os.O_RDONLY), 0)\nexec(compile(open(%s).read(), 'loader', 'exec'))"
            .formatted(
                Json.of(folder + "/" + START_FILE).write(),
                Json.of(folder + "/" + LOADER_FILE).write());
    return isOne(interpreters)
        ? program(interpreters, List.of(text))
        : tried(List.of("/bin/sh", folder + "/" + PROBE_FILE, text), interpreters);
  }

  private String preamble() {
    return RandomHex.of(random, PREAMBLE_BYTES);
  }

  private void begin(Pipe pipe, Json.Obj header, Duration limit) throws IOException {
    Start start =
        start(
            pipe,
            limit,
            preamble -> whole(header.with("preamble", preamble).with("source", source.length)));
    if (!start.isThere()) {
      throw new GpushException(failure(start.status(), header, start.errors(), start.noise()));
    }
  }

  /** How a command has begun: with the preamble, or it ended with this status and this text. */
  private record Start(boolean isThere, int status, String errors, String noise) {}

  /**
   * @param first the first bytes for the command, made from the preamble that it must print
   */
  private Start start(Pipe pipe, Duration limit, Function<String, byte[]> first)
      throws IOException {
    var errors = new Tail();
    var isBegun = new AtomicBoolean();
    // Kubernetes may never report the end of a command that left more of its input unread than a
    // pipe holds; so what it said counts.
    Tail.LinesEnded look =
        () -> {
          if (!isBegun.get() && unread(errors.text()).isPresent()) {
            pipe.close();
          }
        };
    Task<Boolean, RuntimeException> stderr =
        tasks.fork("agent-stderr", () -> errors.readAll(pipe.errors(), look));
    Start start = within(limit, pipe, "agent-begin", () -> start(pipe, first, errors, stderr));
    isBegun.set(true);
    return start;
  }

  @Override
  public Json ask(Pipe pipe, Json.Obj header) throws IOException {
    try (pipe) {
      begin(pipe, header, ANSWER_LIMIT);
      return within(ANSWER_LIMIT, pipe, "agent-answer", () -> answer(pipe.output()));
    }
  }

  /** Waits for work on a pipe, and ends the pipe when it fails, takes too long or is cancelled. */
  private <T> T within(Duration limit, Pipe pipe, String name, Work<T, IOException> work)
      throws IOException {
    boolean isDone = false;
    try {
      T result = tasks.within(limit, name, work, pipe::close);
      isDone = true;
      return result;
    } catch (TimeoutException late) {
      throw new GpushException(
          new AgentFailure.NotUnderstood("no answer within " + DurationText.of(limit), ""), late);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while the agent was starting");
    } finally {
      if (!isDone) {
        pipe.close();
      }
    }
  }

  private Start start(
      Pipe pipe,
      Function<String, byte[]> first,
      Tail errors,
      Task<Boolean, RuntimeException> stderr)
      throws IOException, InterruptedException {
    String preamble = preamble();
    var noise = new Tail();
    boolean isThere;
    try {
      pipe.input().write(first.apply(preamble));
      pipe.input().flush();
      isThere = noise.readTo(pipe.output(), (preamble + "\n").getBytes(StandardCharsets.US_ASCII));
    } catch (IOException broken) {
      // The command may have ended before it read all: its status is more exact than the broken
      // pipe.
      isThere = false;
    }
    if (isThere) {
      return new Start(true, 0, "", "");
    }
    int status = pipe.await();
    stderr.get();
    return new Start(false, unread(errors.text()).orElse(status), errors.text(), noise.text());
  }

  /** The loader's header and the agent's source. */
  private byte[] whole(Json.Obj header) {
    byte[] json = header.write().getBytes(StandardCharsets.UTF_8);
    var all = new ByteArrayOutputStream();
    all.writeBytes(String.format("%08x", json.length).getBytes(StandardCharsets.US_ASCII));
    all.writeBytes(json);
    all.writeBytes(source);
    return all.toByteArray();
  }

  private static Json answer(InputStream output) throws IOException {
    var line = new ByteArrayOutputStream();
    for (int next = output.read(); next != '\n'; next = output.read()) {
      if (next < 0 || line.size() > MAX_ANSWER) {
        throw new GpushException(
            new AgentFailure.NotUnderstood(
                "no line of JSON", clean(line.toString(StandardCharsets.UTF_8))));
      }
      line.write(next);
    }
    String text = line.toString(StandardCharsets.UTF_8);
    try {
      return Json.parse(text);
    } catch (JsonSyntaxException wrong) {
      throw new GpushException(
          new AgentFailure.NotUnderstood(String.valueOf(wrong.getMessage()), clean(text)), wrong);
    }
  }

  /** What exit status and the last line on stderr mean together. */
  static AgentFailure failure(int status, Json.Obj header, String stderr, String noise) {
    String errors = SRUN_ENDED.matcher(stderr).replaceAll("");
    Json said = lastLine(errors);
    String code = said.text("code").orElse("");
    Json.Obj facts = said.object("facts");
    String talk = clean(noise + errors);
    return switch (status) {
      case 97 -> new AgentFailure.NoPython(header.texts("interpreters"));
      case 98 ->
          new AgentFailure.OldPython(
              facts.text("found").orElse(facts.text("version").orElse("an older one")));
      case 96 ->
          code.equals("held")
              ? new AgentFailure.Held(
                  facts
                      .text("label")
                      .filter(label -> !label.isEmpty())
                      .orElse(facts.text("path").orElse("a lock")),
                  LockHolder.words(facts.object("holder")))
              : new AgentFailure.CannotWrite(
                  facts.text("path").orElse(""), code.isEmpty() ? talk : cannotWrite(code, facts));
      case 95 -> new AgentFailure.Died(code.isEmpty() ? talk : said(code, facts));
      case 94 ->
          new AgentFailure.NotThere(
              header.text("gang").orElse(""), header.integer("node").orElse(0));
      default ->
          new AgentFailure.NotUnderstood(
              "exit status " + status + (code.isEmpty() ? "" : ", " + said(code, facts)), talk);
    };
  }

  /** The path is left out, because the failure has its own field for it. */
  private static String cannotWrite(String code, Json.Obj facts) {
    return AgentCode.clause(code)
        + facts
            .text("reason")
            .or(() -> facts.text("errno"))
            .map(reason -> " (" + clean(reason) + ")")
            .orElse("");
  }

  private static String said(String code, Json.Obj facts) {
    return clean(AgentCode.clause(code) + AgentCode.inParentheses(facts));
  }

  /** The program that carries the command (ssh, srun) may have written after it. */
  private static Json lastLine(String errors) {
    List<String> lines = errors.lines().filter(line -> line.startsWith("{")).toList();
    if (lines.isEmpty()) {
      return Json.object();
    }
    try {
      return Json.parse(lines.getLast());
    } catch (JsonSyntaxException noise) {
      return Json.object();
    }
  }

  private static Optional<Integer> unread(String errors) {
    return lastLine(errors).text("code").map(UNREAD::get);
  }

  /** Text from a node, safe to show: without control characters, and not long. */
  private static String clean(String text) {
    String plain =
        text.replaceAll("\\e\\[[0-9;?]*[ -/]*[@-~]", "")
            .replaceAll("[\\p{Cntrl}&&[^\\n\\t]]", "")
            .strip();
    int most = 2_000;
    return plain.length() <= most ? plain : plain.substring(plain.length() - most);
  }
}
