package dev.gpush.shell.render;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.Phrase;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What {@code --dry-run} prints: a sentence, and below it lines that are indented; or a document,
 * which is promised as {@link Documents} are.
 */
public final class Previews {
  /** Of paths that a line names. */
  private static final int NAMED = 8;

  private static final String INDENT = "  ";

  private Previews() {}

  /**
   * What a sync would do.
   *
   * @param zone in which times are shown
   */
  public static List<String> lines(SyncView.Preview sync, ZoneId zone) {
    var lines = new ArrayList<String>();
    List<String> sent = sync.sends().stream().map(SyncView.Preview.Sent::path).toList();
    add(lines, "send " + size(sync), sent);
    add(lines, "delete on the nodes", sync.deletes());
    add(lines, "bring home", sync.comes());
    add(lines, "delete here", sync.removes());
    sync.held().stream()
        .limit(NAMED)
        .forEach(
            each ->
                lines.add(
                    INDENT
                        + "would hold "
                        + Clean.line(each.path() + ": " + each.why(SyncText.time(zone)))));
    if (sync.held().size() > NAMED) {
      lines.add(INDENT + "and " + (sync.held().size() - NAMED) + " more");
    }
    sync.asks().forEach(asked -> lines.add(INDENT + "would ask first: " + Clean.line(asked)));
    return lines;
  }

  private static String size(SyncView.Preview sync) {
    return Phrase.counted(sync.sends().size(), "file") + ", " + Phrase.size(sync.bytes());
  }

  private static void add(List<String> lines, String what, List<String> paths) {
    if (!paths.isEmpty()) {
      int more = paths.size() - NAMED;
      String names = String.join(", ", paths.stream().limit(NAMED).toList());
      lines.add(
          INDENT
              + "would "
              + what
              + ": "
              + Clean.line(names)
              + (more > 0 ? " and " + more + " more" : ""));
    }
  }

  /** What a run would do. */
  public static List<String> lines(Runs.Preview.Ready run, ZoneId zone) {
    var lines = new ArrayList<String>();
    lines.add(Clean.line("would start " + run.launch().header() + " on " + run.session()));
    lines.addAll(lines(run.files(), zone));
    run.setup()
        .forEach(step -> lines.add(INDENT + "would run first, if it has to: " + Clean.line(step)));
    if (!run.launch().waits().isEmpty()) {
      lines.add(INDENT + "would wait for " + Phrase.and(run.launch().waits()));
    }
    for (Runs.Preview.Start start : run.launch().starts()) {
      lines.add(
          INDENT
              + "node "
              + start.node()
              + ", "
              + (start.slots().size() == 1 ? "slot " : "slots ")
              + String.join(",", start.slots())
              + ": "
              + (start.command().isEmpty() ? "what node 0 starts here" : command(start)));
    }
    run.launch()
        .network()
        .filter(FabricPlan::isKnown)
        .ifPresent(plan -> lines.addAll(network(plan)));
    return lines;
  }

  private static String command(Runs.Preview.Start start) {
    boolean isEachRank = start.ranks() > 1 && !start.command().startsWith("torchrun ");
    return (isEachRank ? start.ranks() + " times " : "") + Clean.line(start.command());
  }

  private static List<String> network(FabricPlan plan) {
    var lines = new ArrayList<String>();
    String fabric = plan.fabric().isEmpty() ? "" : plan.fabric() + "; ";
    lines.add(INDENT + "network: " + Clean.line(fabric + plan.gang()));
    for (FabricFinding finding : plan.findings()) {
      lines.add(INDENT + finding.severity().word() + ": " + Clean.line(finding.what()));
    }
    return lines;
  }

  /** What a sync would do. */
  public static Json.Obj json(SessionView session, SyncView.Preview sync) {
    return Json.object("session", session.name().text()).with("files", files(sync));
  }

  private static Json.Obj files(SyncView.Preview sync) {
    return Json.object(
        "send",
        sync.sends().stream()
            .map(sent -> Json.object("path", sent.path(), "bytes", sent.bytes()))
            .toList(),
        "bytes",
        sync.bytes(),
        "delete",
        sync.deletes(),
        "bring",
        sync.comes(),
        "remove",
        sync.removes(),
        "held",
        sync.held().stream().map(Documents::held).toList(),
        "asks",
        sync.asks());
  }

  /**
   * What a run would do.
   *
   * @param failures makes the text of a failure
   */
  public static Json.Obj json(Runs.Preview preview, FailureText failures) {
    return switch (preview) {
      case Runs.Preview.NewSession(var place) ->
          run(
              Optional.empty(),
              Documents.plans(place, failures).items(),
              Optional.empty(),
              List.of(),
              new Runs.Preview.Launch("", List.of(), List.of(), Optional.empty()));
      case Runs.Preview.Ready(var session, var files, var setup, var launch) ->
          run(Optional.of(session.text()), List.of(), Optional.of(files(files)), setup, launch);
    };
  }

  private static Json.Obj run(
      Optional<String> session,
      List<Json> places,
      Optional<Json.Obj> files,
      List<String> setup,
      Runs.Preview.Launch launch) {
    return Json.object(
        "session",
        session,
        "places",
        places,
        "header",
        Documents.text(launch.header()),
        "files",
        files,
        "setup",
        setup,
        "waits",
        launch.waits(),
        "starts",
        launch.starts().stream()
            .map(
                start ->
                    Json.object(
                        "node", start.node(),
                        "slots", start.slots(),
                        "ranks", start.ranks(),
                        "command", Documents.text(start.command())))
            .toList(),
        "network",
        launch.network().map(FabricPlan::json));
  }

  /** What an extension would set. */
  public static List<String> lines(SessionView now, Sessions.Extension then) {
    var lines = new ArrayList<String>();
    Optional<Duration> hard = then.hardEnd().or(now::hardEndLeft);
    lines.add(
        now.name()
            + " has "
            + left(now.hardEndLeft(), now.idleLeft())
            + "; would have "
            + left(hard, Optional.of(then.idle())));
    if (then.mayBeRefused()) {
      lines.add(INDENT + now.backend() + " may refuse a later end; only asking it tells");
    }
    return lines;
  }

  private static String left(Optional<Duration> hard, Optional<Duration> idle) {
    return hard.map(DurationText::coarse).orElse("no hard end")
        + idle.map(time -> ", " + DurationText.coarse(time) + " idle").orElse("");
  }

  /** The same as a document. */
  public static Json.Obj json(SessionView now, Sessions.Extension then) {
    Optional<Duration> hard = then.hardEnd().or(now::hardEndLeft);
    return Json.object(
        "session", now.name().text(),
        "backend", now.backend(),
        "hard_end_s", now.hardEndLeft().map(Duration::toSeconds),
        "idle_end_s", now.idleLeft().map(Duration::toSeconds),
        "new_hard_end_s", hard.map(Duration::toSeconds),
        "new_idle_end_s", then.idle().toSeconds(),
        "may_be_refused", then.mayBeRefused());
  }

  /**
   * What a stop would do.
   *
   * @param run empty: the request of a session that waits
   * @param grace before what is left is killed
   */
  public record Stop(Optional<RunView> run, boolean kill, Duration grace) {
    public String line(SessionView session, Instant now) {
      if (run.isEmpty()) {
        return session.name() + " would no longer wait for " + session.shape();
      }
      RunView view = run.get();
      String words = Clean.line(view.label(Duration.between(view.started(), now)));
      if (view.isOver()) {
        return "run " + view.number() + " has ended already: " + view.state().word();
      }
      return "would stop "
          + words
          + " on "
          + session.name()
          + ": "
          + (kill ? "KILL" : "INT")
          + " to all ranks"
          + on(view)
          + (kill ? "" : ", KILL to what is left after " + DurationText.of(grace));
    }

    public Json.Obj json(SessionView session) {
      Optional<RunView> going = run.filter(view -> !view.isOver());
      return Json.object(
          "session", session.name().text(),
          "run", run.map(RunView::number),
          "state", run.map(view -> view.state().word()),
          "signal", going.map(_ -> kill ? "KILL" : "INT"),
          "kill_after_s", going.map(_ -> kill ? 0L : grace.toSeconds()),
          "ranks", going.map(RunView::ranks),
          "nodes", going.map(view -> List.copyOf(view.nodes())).orElse(List.of()));
    }

    private static String on(RunView view) {
      List<String> nodes = view.nodes().stream().map(node -> "node " + node).toList();
      return nodes.isEmpty() ? "" : " on " + Phrase.and(nodes);
    }
  }
}
