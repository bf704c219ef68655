package dev.gpush.launch;

import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionName;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/** A node whose runs do what the test says. Thread-safe. */
public final class FakeNode implements NodeCalls {
  private final Object lock = new Object();

  // guarded by lock
  private final TreeMap<Integer, Run> runs = new TreeMap<>();
  private final ArrayDeque<String> refusals = new ArrayDeque<>();
  private final Map<String, ArrayDeque<Failure>> failures = new TreeMap<>();
  private final List<String> calls = new ArrayList<>();
  private final List<Long> kept = new ArrayList<>();
  private Optional<String> keepsNot = Optional.empty();
  private boolean interruptsKeep;
  private boolean cutsStart;
  private Optional<Long> present = Optional.empty();
  private Optional<String> edited = Optional.empty();
  private final List<Json> specs = new ArrayList<>();
  private Optional<String> broken = Optional.empty();
  private String python =
      "gpush-python {\"executable\": \"/usr/bin/python3\", \"version\": \"3.11.2\"}";
  private String user = "/home/me\nme\n";
  private Optional<Json> facts = Optional.empty();
  private long nextPort = 2000;
  private boolean isGone;
  private boolean failsWatch;
  private boolean hidesSpec;
  private int listed = Integer.MAX_VALUE;
  private final EnumMap<Reader, ArrayDeque<Break>> breaks = new EnumMap<>(Reader.class);

  /** Who reads a journal: the watch asks for events alone. */
  enum Reader {
    WATCH,
    FOLLOWER
  }

  /**
   * Where a stream of a journal breaks, counted from where it begins.
   *
   * @param isQuiet it only ends; else reading fails
   */
  record Break(int afterBytes, boolean isQuiet) {}

  private static final class Run {
    private final Json spec;
    private final Optional<Run> before;
    private byte[] journal = Journals.event("{\"event\": \"started\"}");
    private boolean isOver;
    private Json exit = new Json.Null();

    Run(Json spec, Optional<Run> before) {
      this.spec = spec;
      this.before = before;
    }

    int attempt() {
      return 1 + before.map(Run::attempt).orElse(0);
    }

    Run attempt(int number) {
      return number == attempt() ? this : before.orElseThrow().attempt(number);
    }
  }

  /** A session of these nodes with two GPUs each. */
  static LaunchSite site(List<FakeNode> nodes, Path folder, Optional<NodeFolder> outputs) {
    var reached = new ArrayList<LaunchNode>();
    for (int i = 0; i < nodes.size(); i++) {
      var info =
          new NodeInfo(
              i, "host" + i, "10.0.0." + i, List.of("0", "1"), "H100", 8, "/n" + i + "/ws");
      reached.add(new LaunchNode(() -> info, nodes.get(i)));
    }
    return new LaunchSite(
        new SessionName("devbox"),
        "0123456789",
        folder,
        false,
        reached,
        folder.resolve("history"),
        outputs);
  }

  /** The reader's next streams of a journal break, each as one of these says, in this order. */
  void breakStreams(Reader reader, Break... these) {
    synchronized (lock) {
      breaks.put(reader, new ArrayDeque<>(List.of(these)));
    }
  }

  /** What it says of its network from now on; before, it refuses to say. */
  void facts(Json said) {
    synchronized (lock) {
      facts = Optional.of(said);
    }
  }

  /** The node and all that is on it is gone for good. */
  void goAway() {
    synchronized (lock) {
      isGone = true;
      lock.notifyAll();
    }
  }

  @Override
  public boolean isLost() {
    synchronized (lock) {
      return isGone;
    }
  }

  private void requireThere() {
    if (isGone) {
      throw new GpushException(new AgentFailure.LinkOver(1, "the test took it away"));
    }
  }

  /** Reading the events of a run hits a bug from now on. */
  void failWatch() {
    synchronized (lock) {
      failsWatch = true;
      lock.notifyAll();
    }
  }

  /** The next run.snapshot or run.start is refused with this code. */
  void refuse(String code) {
    synchronized (lock) {
      refusals.add(code);
    }
  }

  /** The free ports that it names from now on. */
  public void portsFrom(long first) {
    synchronized (lock) {
      nextPort = first;
    }
  }

  void python(String facts) {
    synchronized (lock) {
      python = facts;
    }
  }

  void user(String home, String name) {
    synchronized (lock) {
      user = home + "\n" + name + "\n";
    }
  }

  /** The Python is there and does not work; this is what it says. */
  void breakPython(String words) {
    synchronized (lock) {
      python = "";
      broken = Optional.of(words);
    }
  }

  /** All run.snapshot, run.start, run.stop, in order. */
  List<String> calls() {
    synchronized (lock) {
      return List.copyOf(calls);
    }
  }

  /** Files of another generation are sent to it. */
  void push(long generation) {
    synchronized (lock) {
      present = Optional.of(generation);
    }
  }

  /** A file of its generation is changed there. */
  void edit(String path) {
    synchronized (lock) {
      edited = Optional.of(path);
    }
  }

  /** Each run.keep is refused with this code. */
  void refuseToKeep(String code) {
    synchronized (lock) {
      keepsNot = Optional.of(code);
    }
  }

  /** Who waits for its answer to run.keep is interrupted, as by Ctrl-C. */
  void interruptKeep() {
    synchronized (lock) {
      interruptsKeep = true;
    }
  }

  /** The agent is killed in the next run.start: the run is there, and nothing is answered. */
  void cutStart() {
    synchronized (lock) {
      cutsStart = true;
    }
  }

  /** The generations whose files it was asked to keep. */
  List<Long> kept() {
    synchronized (lock) {
      return List.copyOf(kept);
    }
  }

  List<Json> specs() {
    synchronized (lock) {
      return List.copyOf(specs);
    }
  }

  void write(int run, byte[]... records) {
    synchronized (lock) {
      Run found = runs.get(run);
      found.journal = Journals.records(found.journal, Journals.records(records));
      lock.notifyAll();
    }
  }

  /** The run ends: its last record and its exit.json. */
  void end(int run, String exit) {
    write(run, Journals.event(exit.replaceFirst("\\{", "{\"event\": \"ended\", ")));
    lose(run, Json.parse(exit));
  }

  /** Ends without a word, as a supervisor that is killed. */
  void lose(int run, Json exit) {
    synchronized (lock) {
      runs.get(run).isOver = true;
      runs.get(run).exit = exit;
      lock.notifyAll();
    }
  }

  void awaitCall(String call) throws InterruptedException {
    awaitCalls(call, 1);
  }

  void awaitCalls(String call, int times) throws InterruptedException {
    synchronized (lock) {
      while (Collections.frequency(calls, call) < times) {
        lock.wait();
      }
    }
  }

  @Override
  public Json call(String method, Json.Obj params) throws InterruptedException {
    synchronized (lock) {
      requireThere();
      failIfAsked(method);
      int run = params.number("run").map(Math::toIntExact).orElse(0);
      lock.notifyAll();
      return switch (method) {
        case "fabric.facts" -> facts(method, params);
        case "environment.use" -> Json.object();
        case "ports" -> Json.object("ports", List.of(nextPort++));
        case "run.list" -> list(params);
        case "run.status" -> status(known(run));
        case "run.keep" -> keep(params);
        case "run.snapshot" -> snapshot(run, params);
        case "run.start" -> start(run, params);
        case "run.stop" -> stop(run, params);
        default -> throw refused(method, "unknown-method");
      };
    }
  }

  private Json list(Json params) {
    int before = params.integer("before").orElse(Integer.MAX_VALUE);
    return Json.array(
        runs.headMap(before, false).descendingMap().entrySet().stream()
            .filter(run -> !params.flag("alive") || !run.getValue().isOver)
            .limit(listed)
            .map(run -> view(run.getKey()))
            .toList());
  }

  /** The next call of this method fails so; "follow" is one, too. */
  void fail(String method, Failure failure) {
    synchronized (lock) {
      failures.computeIfAbsent(method, _ -> new ArrayDeque<>()).add(failure);
    }
  }

  private void failIfAsked(String method) {
    ArrayDeque<Failure> asked = failures.getOrDefault(method, new ArrayDeque<>());
    if (!asked.isEmpty()) {
      throw new GpushException(asked.poll());
    }
  }

  /** It cannot read the specification of a run when it is asked next for its status. */
  void hideSpec() {
    synchronized (lock) {
      hidesSpec = true;
    }
  }

  /** What was to fail fails no more. */
  void mend() {
    synchronized (lock) {
      failures.clear();
    }
  }

  /** An answer has room for this many runs from now on. */
  void listAtMost(int count) {
    synchronized (lock) {
      listed = count;
    }
  }

  private Json facts(String method, Json params) {
    calls.add("facts " + params.texts("peers"));
    return facts.orElseThrow(() -> refused(method, "internal"));
  }

  private int known(int run) {
    if (!runs.containsKey(run)) {
      throw refused("run", "not-found");
    }
    return run;
  }

  private Json keep(Json params) throws InterruptedException {
    long generation = params.number("generation").orElse(0L);
    kept.add(generation);
    if (interruptsKeep) {
      throw new InterruptedException("the test's Ctrl-C");
    }
    if (keepsNot.isPresent()) {
      throw refused("run.keep", keepsNot.get());
    }
    if (present.isPresent() && present.get() != generation) {
      return Json.object("generation", present.get());
    }
    if (params.flag("verify") && edited.isPresent()) {
      return Json.object("changed", edited.get());
    }
    return Json.object();
  }

  private Json snapshot(int run, Json params) {
    calls.add("snapshot " + run + " of G" + params.number("generation").orElse(0L));
    if (!refusals.isEmpty()) {
      throw refused("run.snapshot", refusals.poll());
    }
    return Json.object();
  }

  private Json start(int run, Json params) {
    calls.add("start " + run + (params.flag("again") ? " again" : ""));
    if (!refusals.isEmpty()) {
      throw refused("run.start", refusals.poll());
    }
    if (cutsStart) {
      cutsStart = false;
      runs.putIfAbsent(run, new Run(params.object("spec"), Optional.empty()));
      throw new GpushException(new AgentFailure.LinkOver(1, "the test killed its agent"));
    }
    if (runs.containsKey(run) && !params.flag("again")) {
      throw refused("run.start", "exists");
    }
    specs.add(params.object("spec"));
    runs.put(run, new Run(params.object("spec"), Optional.ofNullable(runs.get(run))));
    return Json.object("pid", 1);
  }

  private Json stop(int run, Json params) {
    String signal = params.text("signal").orElse("");
    if (params.flag("forget")) {
      runs.remove(known(run));
      return Json.object();
    }
    calls.add("stop " + known(run) + " " + signal + " " + params.text("why").orElse(""));
    if (signal.equals("KILL")) {
      end(run, "{\"exit\": null, \"signal\": 9, \"stopped\": true}");
    }
    return Json.object();
  }

  private Json status(int run) {
    Json.Obj status = view(run);
    if (hidesSpec) {
      hidesSpec = false;
      return status.with("spec", Json.object());
    }
    return status;
  }

  private Json.Obj view(int number) {
    Run run = runs.get(number);
    return Json.object("run", number, "alive", !run.isOver, "exit", run.exit, "spec", run.spec)
        .with("attempt", run.attempt());
  }

  private static GpushException refused(String what, String code) {
    Json facts = Json.object("run", 99, "what", "script", "path", "train.py");
    return new GpushException(new AgentFailure.Refused(what, code, facts));
  }

  @Override
  public InputStream follow(Json.Obj arguments) {
    int number = arguments.number("run").map(Math::toIntExact).orElse(0);
    synchronized (lock) {
      requireThere();
      failIfAsked("follow");
      Run run = runs.get(number);
      int offset = arguments.number("offset").map(Math::toIntExact).orElse(0);
      if (run == null) {
        if (!arguments.flag("follow")) {
          throw refused("follow", "not-found");
        }
        return InputStream.nullInputStream();
      }
      run = run.attempt(arguments.integer("attempt").orElse(run.attempt()));
      if (arguments.flag("follow")) {
        String since = arguments.get("since_s").isPresent() ? " since" : "";
        calls.add((arguments.flag("events") ? "watch " : "follow ") + number + since);
        lock.notifyAll();
        return new Following(run, offset, nextBreak(arguments), arguments.flag("events"));
      }
      return new ByteArrayInputStream(run.journal, offset, run.journal.length - offset);
    }
  }

  private Optional<Break> nextBreak(Json arguments) {
    Reader reader = arguments.flag("events") ? Reader.WATCH : Reader.FOLLOWER;
    return Optional.ofNullable(breaks.get(reader)).map(ArrayDeque::poll);
  }

  private final class Following extends InputStream {
    private final Run run;
    private final Optional<Break> broken;
    private final int last;
    private final boolean isWatch;
    private int at;

    Following(Run run, int at, Optional<Break> broken, boolean isWatch) {
      this.run = run;
      this.at = at;
      this.broken = broken;
      this.isWatch = isWatch;
      this.last = broken.map(where -> at + where.afterBytes()).orElse(Integer.MAX_VALUE);
    }

    @Override
    public int read() {
      throw new UnsupportedOperationException("a follower reads into a buffer");
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
      synchronized (lock) {
        try {
          while (at < last
              && at == run.journal.length
              && !run.isOver
              && !isGone
              && !(isWatch && failsWatch)) {
            lock.wait();
          }
        } catch (InterruptedException stop) {
          Thread.currentThread().interrupt();
          throw new IOException(stop);
        }
        if (isWatch && failsWatch) {
          throw new IllegalStateException("the test's bug");
        }
        if (isGone) {
          throw new IOException("the link is over");
        }
        if (at == last && !broken.orElseThrow().isQuiet()) {
          throw new IOException("the pipe broke");
        }
        int count = Math.min(length, Math.min(last, run.journal.length) - at);
        System.arraycopy(run.journal, at, target, offset, count);
        at += count;
        return count == 0 ? -1 : count;
      }
    }
  }

  @Override
  public int watch(
      List<String> arguments, Map<String, String> environment, Consumer<String> lines) {
    throw new UnsupportedOperationException("a fake node has no files");
  }

  @Override
  public Answer ask(List<String> arguments, Map<String, String> environment, Duration limit) {
    synchronized (lock) {
      calls.add("ask " + arguments.getFirst());
      if (arguments.get(2).contains("stat")) {
        return new Answer(0, "", "");
      }
      if (arguments.get(2).startsWith("printf")) {
        return new Answer(0, user, "");
      }
      if (broken.isPresent()) {
        return new Answer(127, "", broken.get());
      }
      return python.isEmpty() ? new Answer(97, "", "") : new Answer(0, python, "");
    }
  }
}
