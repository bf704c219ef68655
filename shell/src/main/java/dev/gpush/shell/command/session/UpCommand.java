package dev.gpush.shell.command.session;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.Message;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.BatchHeaders;
import dev.gpush.core.session.Outlook;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.session.UpRequest.Existing;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.DurationText;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.UnsupportedKeys;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.SessionText;
import dev.gpush.shell.render.Table;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "up",
    header = "Get a gang of nodes, or attach to the one you have",
    description = {
      "Asks all backends at once, takes the gang where it is free now, else where it is soonest,"
          + " then cheapest, then listed first, and says why. If it has to wait, it may wait in"
          + " several queues and keeps the first whole gang. All nodes or none, with the workspace"
          + " on every node. The same request again attaches to the session; a different one shows"
          + " the difference and needs --replace.",
      "A request in a queue waits in the gateway, so you may close the terminal: gpush ps shows it,"
          + " and gpush up follows it. Ctrl-C here, gpush down or gpush stop cancels it."
    },
    footer = {
      "$ gpush up --nodes 2 --for 8h",
      "devbox: 2 cpu nodes on local in 1s; 8h left, 1h idle",
      "next: gpush run train.py · gpush link, then ssh devbox"
    })
public final class UpCommand implements Action {
  @Parameters(
      arity = "0..1",
      paramLabel = "SCRIPT",
      description = "a batch script whose #SBATCH lines say what to ask for; it is not run")
  Optional<String> script;

  @Option(names = "--nodes", paramLabel = "N", description = "number of nodes")
  public Optional<String> nodes;

  @Option(
      names = "--gpus",
      paramLabel = "GPUS",
      description = "per node: H100:8, 8, or H100 for one; 0 for none")
  Optional<String> gpus;

  @Option(names = "--backend", paramLabel = "BACKEND", description = "only on these: hpc,rack")
  Optional<String> backend;

  @Option(
      names = "--for",
      paramLabel = "TIME",
      description = "given back after this time in any case: 30m, 8h, 1d12h")
  Optional<String> hardEnd;

  @Option(
      names = "--idle",
      paramLabel = "TIME",
      description = "given back after this time without activity")
  Optional<String> idle;

  @Option(
      names = "--python",
      paramLabel = "PYTHON",
      description = "interpreter or environment for shells and runs")
  Optional<String> python;

  @Option(
      names = "--attach",
      paramLabel = "PODS",
      description =
          "pods that run already: job/NAME, trainjob/NAME, pod/NAME; never ended by gpush")
  Optional<String> attach;

  @Option(names = "--replace", description = "give back a session that differs, then get this one")
  boolean replace;

  @Option(
      names = "--discard",
      description = "with --replace: also what exists only on the nodes, and its runs")
  boolean discard;

  @Option(names = "--detach", description = "return as soon as it waits in a queue")
  boolean detach;

  @Option(names = "--dry-run", description = "show where and when; reserve nothing")
  boolean dryRun;

  @Override
  public int run(Call call) throws InterruptedException {
    if (discard && !replace) {
      throw Values.bad("up", "--discard needs --replace");
    }
    if (attach.isPresent() && (nodes.isPresent() || gpus.isPresent())) {
      throw Values.bad("up", "--attach takes all pods as they are, without --nodes and --gpus");
    }
    Optional<BatchHeaders> headers = script.map(file -> ScriptHeaders.read(call, file));
    Optional<Duration> end = Values.time("--for", hardEnd);
    var wanted =
        new UpRequest.Wanted(
            backend,
            Values.nodes(nodes).or(() -> headers.flatMap(BatchHeaders::nodes)),
            gpus.map(GpuRequest::parse).or(() -> headers.flatMap(BatchHeaders::gpus)),
            python,
            headers.map(BatchHeaders::natives).orElse(List.of()).stream()
                .filter(option -> end.isEmpty() || !option.startsWith("--time="))
                .toList(),
            attach);
    var lease =
        new UpRequest.Lease(
            end.or(() -> headers.flatMap(BatchHeaders::time)), Values.time("--idle", idle));
    UpRequest request =
        UpRequest.of(call.folder(), call.environment())
            .named(call.newName())
            .wanting(wanted)
            .leased(lease)
            .onExisting(existing());
    UnsupportedKeys.say(call);
    return dryRun ? plan(call, request) : up(call, request);
  }

  private Existing existing() {
    if (!replace) {
      return Existing.MUST_MATCH;
    }
    return discard ? Existing.REPLACE_AND_DISCARD : Existing.REPLACE;
  }

  private int plan(Call call, UpRequest request) throws InterruptedException {
    Outlook outlook;
    try (Talk.Step _ = call.talk().step("asking the backends")) {
      outlook = call.services().sessions().plan(request);
    }
    if (call.common().json) {
      call.print(Documents.plans(outlook, call.failures()));
    } else {
      print(call, outlook);
    }
    return status(outlook);
  }

  /** Where and when, for people. */
  public static void print(Call call, Outlook outlook) {
    Table table = new Table("BACKEND", "WHEN", "WHAT");
    outlook.offers().forEach(offer -> row(table, offer, call.failures()));
    call.print(table);
    if (!outlook.why().isEmpty()) {
      call.say(outlook.why());
    }
    outlook
        .offers()
        .forEach(
            offer ->
                Optional.ofNullable(outlook.smaller().get(offer.backend()))
                    .ifPresent(
                        part ->
                            call.say(offer.backend() + " would grant " + part.options() + " now")));
  }

  /** 0 if the request can be granted, now or later; else the status of the failure. */
  public static int status(Outlook outlook) {
    boolean isUnknown = true;
    for (Outlook.Offer offer : outlook.offers()) {
      switch (offer.answer()) {
        case Outlook.Answer.Planned(Plan.Never _) -> isUnknown = false;
        case Outlook.Answer.Planned _ -> {
          return 0;
        }
        case Outlook.Answer.Failed _ -> {}
      }
    }
    return (isUnknown ? ExitStatus.ENVIRONMENT : ExitStatus.FAILED).number();
  }

  private static void row(Table table, Outlook.Offer offer, FailureText failures) {
    String price =
        offer.price().map(hour -> String.format(Locale.ROOT, "; %.2f an hour", hour)).orElse("");
    switch (offer.answer()) {
      case Outlook.Answer.Planned(var plan) -> row(table, offer.backend(), plan, price);
      case Outlook.Answer.Failed(var failure) -> {
        Message message = failures.of(failure);
        table.row(
            offer.backend(),
            "unknown",
            message.what() + ": " + message.because().getFirst() + "; try: " + message.remedy());
      }
    }
  }

  private static void row(Table table, String backend, Plan plan, String price) {
    switch (plan) {
      case Plan.Now(var what) -> table.row(backend, "now", what + price);
      case Plan.Later(var reason, var estimate, var holders) ->
          table.row(
              backend,
              estimate.map(wait -> "in about " + DurationText.coarse(wait)).orElse("later"),
              reason
                  + (holders.isEmpty() ? "" : "; held by " + String.join(", ", holders))
                  + price);
      case Plan.Never(var reason, var works) ->
          table.row(
              backend,
              "never",
              reason + (works.isEmpty() ? "" : "; would fit: " + String.join(" or ", works)));
    }
  }

  private int up(Call call, UpRequest request) throws InterruptedException {
    long begun = call.services().timing().clock().nanos();
    Sessions sessions = call.services().sessions();
    SessionView session =
        detach ? sessions.upDetached(request, call.talk()) : sessions.up(request, call.talk());
    if (call.common().json) {
      call.print(Documents.session(session, call.now()));
    }
    if (session.state() == SessionState.QUEUED) {
      sayQueued(call, session);
      return 0;
    }
    Duration took = Duration.ofNanos(call.services().timing().clock().nanos() - begun);
    String left = SessionText.lease(session);
    call.say(
        session.name()
            + (session.isNew() ? ": " : " is there: ")
            + session.shape()
            + " on "
            + session.backend()
            + (session.isNew()
                ? " in " + DurationText.of(took)
                : ", "
                    + DurationText.coarse(Duration.between(session.created(), call.now()))
                    + " old")
            + (left.isEmpty() ? "" : "; " + left)
            + (session.state() == SessionState.DEGRADED ? "; degraded: " + session.detail() : ""));
    if (session.isNew()) {
      call.printTrace(session.trace());
      sayProblems(call, session);
      call.say(next(call, session));
    }
    return 0;
  }

  private static String next(Call call, SessionView session) {
    String ssh = "ssh " + session.name();
    boolean isLinked = call.services().gateway().ssh().isLinked();
    return "next: gpush run train.py · " + (isLinked ? ssh : "gpush link, then " + ssh);
  }

  /** Only what is wrong: the nodes are there, and a run may still be what the user wants. */
  private void sayProblems(Call call, SessionView session) throws InterruptedException {
    List<FabricFinding> problems;
    try (Talk.Step _ = call.talk().step("asking the nodes for their network")) {
      problems = call.services().runs().problems(session.name(), call.noCommand(), call.talk());
    }
    problems.forEach(problem -> call.say("warning: " + problem.sentence()));
    if (!problems.isEmpty()) {
      call.say("details: " + call.commands().of("check"));
    }
  }

  private static void sayQueued(Call call, SessionView session) {
    String waited =
        session.isNew()
            ? ""
            : " for " + DurationText.coarse(Duration.between(session.created(), call.now()));
    call.say(
        session.name()
            + " waits"
            + waited
            + " on "
            + session.backend()
            + (session.detail().isEmpty() ? "" : ": " + session.detail()));
    call.say(
        "status: gpush ps · follow: "
            + call.commands().of("up")
            + " · cancel: "
            + call.commands().of("down"));
  }
}
