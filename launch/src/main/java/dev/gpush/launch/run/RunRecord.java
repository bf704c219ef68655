package dev.gpush.launch.run;

import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTransport;
import dev.gpush.core.run.RunView;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.talk.Trace.Phase;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.text.Worded;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The record of a run: for messages, for repeating it, and for finding it again. It is kept in the
 * history and, with the run, on its nodes. The environment is not kept, because it may hold
 * secrets.
 *
 * @param parts in the order of ranks
 */
public record RunRecord(
    int number,
    String session,
    Asked asked,
    RunView.Progress progress,
    List<Part> parts,
    Launched launched) {
  private static final String FIRST = "waiting for what a rank prints first";

  /**
   * What was asked for.
   *
   * @param folder where it starts, relative to the workspace's root
   */
  public record Asked(RunKind kind, List<String> words, Options options, String folder) {
    public Asked {
      words = List.copyOf(words);
    }
  }

  /**
   * What was launched.
   *
   * @param generation of the files that it started with
   * @param header the line printed before its output
   */
  public record Launched(long generation, String mode, String python, String header, Given given) {}

  /**
   * What the ranks were given besides: kept in the history only, because the copy on the nodes is
   * part of each answer to {@code run.list}.
   *
   * @param marks of the variables that were set; not their values, which may be secrets
   * @param fabric the plan of its network; empty where the form starts no ranks, or the record is
   *     older than plans
   */
  public record Given(Map<String, String> marks, Optional<FabricPlan> fabric) {
    public Given {
      marks = Map.copyOf(marks);
    }
  }

  /**
   * What was asked besides the words.
   *
   * @param claim of which the history keeps neither the model of GPUs nor that it waits
   * @param variables names of {@code --env}; their values may be secrets
   */
  public record Options(
      RunRequest.Claim claim,
      Optional<String> python,
      RunRequest.Ranks ranks,
      List<String> variables) {
    public Options {
      variables = List.copyOf(variables);
    }

    Json.Obj json() {
      Json.Obj json =
          Json.object(
              "nodes", claim.nodes(), "gpus", claim.slots(), "on", claim.on(), "python", python);
      if (ranks.perNode().isPresent()) {
        json = json.with("nproc", ranks.perNode().get());
      }
      if (ranks.restarts() > 0) {
        json = json.with("restarts", ranks.restarts());
      }
      if (ranks.warm()) {
        json = json.with("warm", true);
      }
      if (ranks.fromSnapshot()) {
        json = json.with("snapshot", true);
      }
      return variables.isEmpty() ? json : json.with("env", variables);
    }

    static Options from(Json json) {
      return new Options(
          new RunRequest.Claim(
              json.integer("nodes"),
              json.integer("gpus").flatMap(GpuRequest::any),
              json.text("on"),
              false),
          json.text("python"),
          new RunRequest.Ranks(
              json.integer("nproc"),
              json.integer("restarts").orElse(0),
              json.flag("warm"),
              json.flag("snapshot")),
          json.texts("env"));
    }

    /** With other names of variables. */
    public Options with(List<String> names) {
      return new Options(claim, python, ranks, names);
    }

    /** With files of its own. */
    public Options fromSnapshot() {
      return new Options(claim, python, ranks.fromSnapshot(true), variables);
    }

    /** Whether nothing was asked but perhaps files of its own. */
    public boolean isEmpty() {
      return claim.nodes().isEmpty()
          && claim.gpus().isEmpty()
          && claim.on().isEmpty()
          && python.isEmpty()
          && ranks.fromSnapshot(false).equals(RunRequest.Ranks.usual());
    }
  }

  /**
   * The run on one node.
   *
   * @param firstRank its ranks are numbered from here
   * @param startMs when it was started, after the first of the nodes was
   */
  public record Part(int node, List<String> slots, int firstRank, int ranks, long startMs) {
    public Part {
      slots = List.copyOf(slots);
    }

    public Part startedAt(long ms) {
      return new Part(node, slots, firstRank, ranks, ms);
    }

    /** These, with when each was started. */
    public static List<Part> started(List<Part> parts, List<Long> startsMs) {
      return IntStream.range(0, parts.size())
          .mapToObj(part -> parts.get(part).startedAt(startsMs.get(part)))
          .toList();
    }

    Json.Obj json() {
      return Json.object(
          "node",
          node,
          "slots",
          slots,
          "first_rank",
          firstRank,
          "ranks",
          ranks,
          "start_ms",
          startMs);
    }

    static Part from(Json json) {
      return new Part(
          json.integer("node").orElse(0),
          json.texts("slots"),
          json.integer("first_rank").orElse(0),
          json.integer("ranks").orElse(1),
          json.number("start_ms").orElse(0L));
    }
  }

  public RunRecord {
    parts = List.copyOf(parts);
  }

  /** Whether a node has this run under its number; another gateway may have used that, too. */
  boolean isThat(Json about) {
    return about.text("started").equals(Optional.of(progress.started().toString()));
  }

  /** Whether a session of this size has all its nodes. */
  public boolean fits(int nodes) {
    return parts.stream().allMatch(part -> part.node() >= 0 && part.node() < nodes);
  }

  int ranks() {
    return parts.stream().mapToInt(Part::ranks).sum();
  }

  public RunRecord in(RunView.State next) {
    return with(progress.in(next));
  }

  /**
   * At its end.
   *
   * @param failure who failed first, where the run failed or was lost
   */
  public RunRecord over(
      RunView.State next, Optional<Integer> status, Instant at, Optional<RunFailure> failure) {
    return with(
        new RunView.Progress(
            next,
            status,
            progress.started(),
            Optional.of(at),
            failure,
            progress.transport(),
            progress.trace()));
  }

  RunRecord with(RunTransport transport) {
    return with(progress.with(transport));
  }

  public RunRecord with(Trace start) {
    return with(progress.with(start));
  }

  /**
   * With the first that a rank printed; the first of all nodes counts. The phase of the ranks ends
   * with the start on the last node, so this one begins there.
   *
   * @param after the ranks of the node had been started
   */
  RunRecord printed(int node, Duration after) {
    Trace start = progress.trace();
    long last = parts.stream().mapToLong(Part::startMs).max().orElse(0);
    long own = parts.stream().filter(part -> part.node() == node).mapToLong(Part::startMs).sum();
    Duration took = Duration.ofMillis(Math.max(0, own + after.toMillis() - last));
    boolean isLater =
        start.phase(Stage.OUTPUT).filter(known -> known.took().compareTo(took) <= 0).isPresent();
    return start.isEmpty() || isLater
        ? this
        : with(start.with(new Phase(Stage.OUTPUT, took, FIRST)));
  }

  private RunRecord with(RunView.Progress next) {
    return new RunRecord(number, session, asked, next, parts, launched);
  }

  public RunRecord with(List<Part> startedParts) {
    return new RunRecord(number, session, asked, progress, startedParts, launched);
  }

  public List<String> words() {
    return asked.words();
  }

  public Options options() {
    return asked.options();
  }

  public RunView.State state() {
    return progress.state();
  }

  public Optional<Integer> exit() {
    return progress.exit();
  }

  public RunView view() {
    List<String> slots =
        parts.stream()
            .flatMap(part -> part.slots().stream().map(slot -> part.node() + ":" + slot))
            .toList();
    return new RunView(
        number,
        session,
        asked.kind(),
        progress,
        new RunView.Launched(
            words(),
            ranks(),
            slots,
            launched.generation(),
            launched.mode(),
            launched.python(),
            options().ranks().fromSnapshot()),
        launched.header());
  }

  /** The record as its own history keeps it. */
  public Json.Obj json() {
    Given given = launched.given();
    Json.Obj json = about();
    if (progress.failure().isPresent()) {
      json = json.with("failure", progress.failure().get().json());
    }
    if (progress.transport().isPresent()) {
      json = json.with("network", progress.transport().get().json());
    }
    if (!progress.trace().isEmpty()) {
      json = json.with("trace", progress.trace().json());
    }
    if (!given.marks().isEmpty()) {
      json = json.with("environment", Json.of(given.marks()));
    }
    return given.fabric().isPresent() ? json.with("plan", given.fabric().get().json()) : json;
  }

  /** The copy that its nodes keep. */
  public Json.Obj about() {
    Json.Obj about = plain();
    return switch (asked.kind()) {
      case PROGRAM -> about;
      case NOTEBOOK -> about.with("kind", Json.of(asked.kind().word()));
    };
  }

  private Json.Obj plain() {
    return Json.object(
        "version", 1,
        "run", number,
        "session", session,
        "words", words(),
        "options", options().json(),
        "folder", asked.folder(),
        "state", state().word(),
        "exit", exit(),
        "started", progress.started().toString(),
        "ended", progress.ended().map(Instant::toString),
        "parts", parts.stream().map(Part::json).toList(),
        "generation", launched.generation(),
        "mode", launched.mode(),
        "python", launched.python(),
        "header", launched.header());
  }

  /** Empty when it is not a record. */
  public static Optional<RunRecord> from(Json json) {
    Optional<Integer> number = json.integer("run").filter(run -> run > 0 && run <= 1_000_000_000);
    List<Part> parts = json.items("parts").stream().map(Part::from).toList();
    if (number.isEmpty() || parts.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new RunRecord(
            number.get(),
            json.text("session").orElse(""),
            new Asked(
                // Records that are older than kinds are of programs.
                Worded.of(RunKind.class, json.text("kind").orElse("")).orElse(RunKind.PROGRAM),
                json.texts("words"),
                Options.from(json.object("options")),
                json.text("folder").orElse("")),
            new RunView.Progress(
                Worded.of(RunView.State.class, json.text("state").orElse(""))
                    .orElse(RunView.State.UNKNOWN),
                json.integer("exit"),
                instant(json, "started").orElse(Instant.EPOCH),
                instant(json, "ended"),
                json.get("failure").filter(Json.Obj.class::isInstance).map(RunFailure::from),
                json.get("network").filter(Json.Obj.class::isInstance).map(RunTransport::read),
                Trace.from(json.object("trace"))),
            parts,
            new Launched(
                json.number("generation").orElse(0L),
                json.text("mode").orElse(""),
                json.text("python").orElse(""),
                json.text("header").orElse(""),
                new Given(
                    json.object("environment").textMap(),
                    json.get("plan").map(FabricPlan::read)))));
  }

  private static Optional<Instant> instant(Json json, String key) {
    return json.text(key)
        .flatMap(
            text -> {
              try {
                return Optional.of(Instant.parse(text));
              } catch (DateTimeException notOurs) {
                return Optional.empty();
              }
            });
  }
}
