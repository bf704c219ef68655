package dev.gpush.shell.command.run;

import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunView;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.session.Outlook.Smaller;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.Sessions.EndedRequest;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.SessionCommands;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.TraceText;
import dev.gpush.shell.render.WhyDocuments;
import dev.gpush.shell.text.Prose;
import dev.gpush.shell.top.TopPicture;
import dev.gpush.shell.top.TopPictures;
import dev.gpush.shell.why.Explanation;
import dev.gpush.shell.why.Explanation.Code;
import dev.gpush.shell.why.Explanation.Evidence;
import dev.gpush.shell.why.RunExplanation;
import dev.gpush.shell.why.RunExplanation.Subject;
import dev.gpush.shell.why.SessionExplanation;
import dev.gpush.shell.why.SessionExplanation.Wait;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "why",
    header = "Say why it waits, hangs, is slow, idle or failed",
    description = {
      "One answer, what it is founded on, and what to try. Of a run in progress the ranks are"
          + " looked at for a second: those at the same place in their code are one group,"
          + " and the odd rank is named. For that py-spy must be in the environment of the ranks or"
          + " on PATH of the nodes (pip install py-spy); it never stops a rank. Without it, the"
          + " kernel's view of the processes is shown. Ranks that were started by hand in ssh are"
          + " found, too. A run that prints its steps is compared with itself and with earlier"
          + " runs. Without an argument: the newest run in progress, else one that failed"
          + " last, within the hour, else the session."
    },
    footer = {
      "$ gpush why",
      "run 7 (train.py, 4 ranks, 12m) stands still: 3 of 4 ranks wait in",
      "    all_reduce at train.py:42; rank 2 is in load_batch at data.py:17",
      "  it has printed nothing for 11m"
    })
public final class WhyCommand implements Action {
  private static final String CONTINUED = "    ";

  /** Below the first thing to try. */
  private static final String TRIED = "       ";

  @Parameters(
      paramLabel = "RUN|NAME",
      arity = "0..1",
      description = "the number of a run, or a session")
  Optional<String> what;

  /** What was found. */
  private record Answer(
      Optional<SessionView> session,
      Optional<RunView> run,
      Explanation explanation,
      List<NodeStacks> nodes,
      Map<String, JobsAhead> ahead) {
    static Answer of(SessionView session, Optional<RunView> run, Explanation explanation) {
      return new Answer(Optional.of(session), run, explanation, List.of(), Map.of());
    }

    Answer with(Explanation other) {
      return new Answer(session, run, other, nodes, ahead);
    }

    /** Of the start of what it is about. */
    Trace trace() {
      return run.map(RunView::trace)
          .or(() -> session.map(SessionView::trace))
          .orElseGet(Trace::none);
    }

    /** With the phase that the start is in, or that made it slow; its queue is said already. */
    Answer traced() {
      boolean isStarting =
          run.isEmpty() && session.filter(at -> at.status().isStarting()).isPresent();
      return (isStarting ? TraceText.present(trace()) : TraceText.slow(trace()))
          .filter(_ -> explanation.code() != Code.QUEUED)
          .map(line -> explanation.with(new Evidence(line, List.of())))
          .map(this::with)
          .orElse(this);
    }
  }

  @Override
  public int run(Call call) throws InterruptedException {
    Answer answer;
    try (Talk.Step _ = call.talk().step("looking at what happens")) {
      answer = answer(call).traced();
    }
    if (call.common().json) {
      call.print(
          WhyDocuments.of(
              answer.session(),
              answer.run(),
              answer.explanation(),
              answer.nodes(),
              answer.ahead(),
              answer.trace()));
    } else {
      print(call, answer.explanation());
    }
    return 0;
  }

  private Answer answer(Call call) throws InterruptedException {
    Optional<String> number = what.filter(WhyCommand::isNumber);
    if (number.isPresent()) {
      SessionView session = call.session();
      return of(call, session, RunNumbers.find(call, session.name(), number));
    }
    Optional<EndedRequest> failed = failed(call);
    if (failed.isPresent()) {
      return new Answer(
          Optional.empty(),
          Optional.empty(),
          SessionExplanation.ofRequest(failed.get(), commands(call), call.now()),
          List.of(),
          Map.of());
    }
    SessionView session = call.session(what.or(call::named));
    return session.state().hasNodes() ? withNodes(call, session) : withoutNodes(call, session);
  }

  private Answer withoutNodes(Call call, SessionView session) throws InterruptedException {
    Wait wait = SessionExplanation.waits(session) ? wait(call, session) : Wait.unknown();
    Explanation found = SessionExplanation.of(session, wait, commands(call), call.now());
    return new Answer(Optional.of(session), Optional.empty(), found, List.of(), wait.ahead());
  }

  /** Asks both at once, and leaves out what is not known in time. */
  private static Wait wait(Call call, SessionView session) throws InterruptedException {
    UpRequest request =
        UpRequest.of(session.root(), call.environment()).named(Optional.of(session.name()));
    Sessions sessions = call.services().sessions();
    try (Tasks tasks = Tasks.named("why", (_, bug) -> report(call, bug))) {
      Task<Map<String, JobsAhead>, RuntimeException> ahead =
          tasks.fork(
              "queue", () -> inTime(call, tasks, "ahead", () -> sessions.ahead(session.name())));
      Map<String, Smaller> smaller =
          inTime(call, tasks, "plan", () -> sessions.plan(request).smaller());
      return new Wait(ahead.get(), smaller);
    }
  }

  private static <T> Map<String, T> inTime(
      Call call, Tasks tasks, String task, Work<Map<String, T>, RuntimeException> question)
      throws InterruptedException {
    try {
      return tasks.within(call.services().timing().planLimit(), task, question);
    } catch (TimeoutException | GpushException noAnswer) {
      return Map.of();
    }
  }

  private static void report(Call call, Throwable bug) {
    call.services().gateway().bugs().report("why", bug);
  }

  private Answer ofSession(
      Call call, SessionView session, Optional<RunView> run, Optional<RunView> last) {
    Explanation found = SessionExplanation.of(session, last, commands(call), call.now());
    return Answer.of(session, run, found);
  }

  private SessionCommands commands(Call call) {
    return new SessionCommands(
        what.filter(word -> !isNumber(word)).or(() -> call.common().session));
  }

  private static boolean isNumber(String word) {
    return word.matches("[0-9]+");
  }

  /** The newest request that failed, if no session is there that could be meant. */
  private Optional<EndedRequest> failed(Call call) {
    Optional<String> name = what.or(call::named);
    List<String> known =
        call.services().sessions().list().stream().map(view -> view.name().text()).toList();
    boolean isThere = name.map(known::contains).orElse(!known.isEmpty());
    return isThere
        ? Optional.empty()
        : call.services().sessions().ended().stream()
            .filter(each -> name.map(each.session().text()::equals).orElse(true))
            .findFirst();
  }

  private Answer withNodes(Call call, SessionView session) throws InterruptedException {
    List<RunView> runs = call.services().runs().list(session.name());
    List<RunView> going = runs.stream().filter(WhyCommand::isGoing).toList();
    if (!going.isEmpty()) {
      Answer answer = of(call, session, going.getFirst());
      Explanation explanation = answer.explanation();
      for (RunView other : going.subList(1, going.size())) {
        String question = commands(call).of("why " + other.number());
        String line = "run " + other.number() + " is in progress, too: " + question;
        explanation = explanation.with(new Evidence(line, List.of()));
      }
      return answer.with(explanation);
    }
    Optional<RunView> last =
        runs.stream()
            .max(Comparator.comparing(run -> run.progress().ended().orElse(run.started())));
    if (session.status().needsLogin().isPresent()) {
      return ofSession(call, session, Optional.empty(), last);
    }
    List<NodeStacks> nodes = call.services().runs().stacks(session.name(), Optional.empty());
    if (nodes.stream().anyMatch(node -> !node.ranks().isEmpty())) {
      try (TopPictures pictures = pictures(call, session)) {
        return explained(
            call, session, Optional.empty(), Subject.byHand(nodes), nodes, pictures.settled());
      }
    }
    Optional<RunView> failed = SessionExplanation.justFailed(session, last, call.now());
    return failed.isPresent()
        ? ended(call, session, failed.get())
        : ofSession(call, session, Optional.empty(), last);
  }

  /** One whose end is not known is none, so that it does not hide what its session does. */
  private static boolean isGoing(RunView run) {
    return !run.isOver() && run.state() != RunView.State.UNKNOWN;
  }

  private Answer of(Call call, SessionView session, RunView run) throws InterruptedException {
    if (!isGoing(run)) {
      return ended(call, session, run);
    }
    if (session.status().needsLogin().isPresent()) {
      return ofSession(call, session, Optional.of(run), Optional.empty());
    }
    Duration going = Duration.between(run.started(), call.now());
    try (TopPictures pictures = pictures(call, session)) {
      List<NodeStacks> nodes =
          call.services().runs().stacks(session.name(), Optional.of(run.number()));
      RunView now = call.services().runs().find(session.name(), Optional.of(run.number()));
      return isGoing(now)
          ? explained(
              call, session, Optional.of(now), Subject.of(now, going), nodes, pictures.settled())
          : ended(call, session, now);
    }
  }

  private Answer ended(Call call, SessionView session, RunView run) throws InterruptedException {
    Explanation found =
        SessionExplanation.ofEnded(run, lastLines(call, session, run), commands(call), call.now());
    Explanation whole =
        Verdict.unsent(call, run)
            .map(path -> found.with(path.line(), Verdict.remedy(call, path)))
            .orElse(found);
    return Answer.of(session, Optional.of(run), whole);
  }

  private static TopPictures pictures(Call call, SessionView session) {
    return new TopPictures(
        call.services().runs(),
        call.services().timing().clock(),
        session,
        Optional.empty(),
        TopPictures.BRIEF);
  }

  private Answer explained(
      Call call,
      SessionView session,
      Optional<RunView> run,
      Subject subject,
      List<NodeStacks> nodes,
      TopPicture picture) {
    Explanation found = new RunExplanation(subject, commands(call), nodes, picture).explain();
    return new Answer(Optional.of(session), run, found, nodes, Map.of());
  }

  /** Of the rank that failed first, where there is one. */
  private static List<String> lastLines(Call call, SessionView session, RunView run)
      throws InterruptedException {
    Optional<RunFailure> failure = run.failure();
    if (failure.isEmpty() || run.progress().ended().isEmpty()) {
      return List.of();
    }
    Duration since =
        LastLines.SPAN.plus(Duration.between(run.progress().ended().get(), call.now()));
    var asked = new LogRequest(Set.of(failure.get().rank()), false, Optional.of(since));
    var lines = new LastLines();
    try {
      call.services().runs().follow(session.name(), run.number(), asked, lines);
    } catch (GpushException unread) {
      return List.of("(cannot be read: " + FailureText.clause(unread.failure()) + ")");
    }
    return lines.taken();
  }

  private static void print(Call call, Explanation answer) {
    sentence(call, "", answer.text());
    for (Evidence each : answer.evidence()) {
      sentence(call, "  ", each.text());
      each.below().forEach(line -> call.print("    " + indented(line) + "\n"));
    }
    String label = "  try: ";
    for (String remedy : answer.remedies()) {
      call.print(label + Clean.line(remedy) + "\n");
      label = TRIED;
    }
  }

  /** In a terminal, lines end between words. Commands and stack lines stay whole, to be copied. */
  private static void sentence(Call call, String lead, String text) {
    int columns = call.console().look().columns();
    Prose.lines(lead, lead + CONTINUED, Clean.line(text), columns)
        .forEach(line -> call.print(line + "\n"));
  }

  /** Cleaned without the loss of its indentation, which tells a traceback's lines apart. */
  private static String indented(String line) {
    String text = line.stripLeading();
    return " ".repeat(Math.min(line.length() - text.length(), 8)) + Clean.line(text);
  }
}
