package dev.gpush.shell.render;

import dev.gpush.core.backend.BackendView;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.run.RunDifference;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunTransport;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.Outlook;
import dev.gpush.core.session.PortForward;
import dev.gpush.core.session.SendReason;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.Sessions.Ending;
import dev.gpush.core.session.Sessions.GivenBack;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.SshAccess;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.text.RunFailureText;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What {@code --json} prints. The fields are promised in docs/reference/json.md: one may be added,
 * none renamed or taken away. Moments are ISO 8601 in UTC, lengths of time are whole seconds in
 * fields that end in {@code _s}, and what is not known is null.
 */
public final class Documents {
  private Documents() {}

  public static Json.Obj session(SessionView session, Instant now) {
    return Json.object(
        "name", session.name().text(),
        "id", session.id(),
        "state", session.state().word(),
        "detail", session.detail(),
        "needs_you", session.status().needsLogin(),
        "backend", session.backend(),
        "gang", session.place().gang(),
        "shape", session.shape(),
        "nodes", session.size(),
        "gpus_per_node", session.gpus().count(),
        "gpu_model", session.gpus().model(),
        "folder", session.root().toString(),
        "owner", session.identity().owner(),
        "created", moment(session.created()),
        "age_s", seconds(Duration.between(session.created(), now)),
        "hard_end_s", session.hardEndLeft().map(Duration::toSeconds),
        "idle_end_s", session.idleLeft().map(Duration::toSeconds),
        "activity", session.lease().activity(),
        "price", session.place().cost().map(SessionView.Cost::hour),
        "cost", session.place().cost().map(SessionView.Cost::soFar),
        "generation", session.generation(),
        "runs", session.runsInProgress(),
        "python", text(session.work().python()),
        "warm", session.work().warm().stream().map(Documents::warm).toList(),
        "synced", session.sync().isSynced(),
        "trace", trace(session.trace()));
  }

  private static Json.Obj warm(SessionView.WarmInterpreter interpreter) {
    return Json.object(
        "program", interpreter.program(),
        "ready", interpreter.isReady(),
        "bytes", interpreter.bytes());
  }

  public static Json.Obj node(NodeView node) {
    return Json.object(
        "node", node.info().index(),
        "host", node.info().host(),
        "address", node.info().address(),
        "gpu_model", text(node.info().gpuModel()),
        "slots", node.info().slots(),
        "claimed", node.claimed(),
        "cpus", node.info().cpus(),
        "workspace", node.info().workspace(),
        "link", node.link(),
        "activity", text(node.activity()),
        "generation", node.generation(),
        "python", text(node.python()),
        "agent_pid", node.agentPid() > 0 ? Optional.of(node.agentPid()) : Optional.empty());
  }

  public static Json.Obj run(RunView run, Instant now) {
    return Json.object(
        "run", run.number(),
        "session", run.session(),
        "kind", run.kind().word(),
        "state", run.state().word(),
        "exit", run.exit(),
        "words", Clean.masked(run.words()),
        "mode", run.launched().mode(),
        "ranks", run.ranks(),
        "slots", run.slots(),
        "generation", run.generation(),
        "snapshot", run.launched().fromSnapshot(),
        "python", text(run.launched().python()),
        "started", moment(run.started()),
        "ended", run.progress().ended().map(Documents::moment),
        "duration_s", seconds(Duration.between(run.started(), run.progress().ended().orElse(now))),
        "failure", run.failure().map(Documents::failure),
        "network", run.transport().map(Documents::network),
        "trace", trace(run.trace()));
  }

  /** Of a start; empty where that was not measured. */
  static Optional<Json.Obj> trace(Trace trace) {
    return Optional.of(trace).filter(each -> !each.isEmpty()).map(Trace::json);
  }

  /** The first line of {@code run -v --json}. */
  public static Json.Obj traced(RunView run) {
    return run.trace().json().with("type", "trace").with("run", run.number());
  }

  /** The network that a run really uses. */
  private static Json.Obj network(RunTransport transport) {
    return Json.object(
        "transport", transport.network(),
        "although", text(transport.although()),
        "because", text(transport.because()),
        "try", text(transport.remedy()),
        "by", transport.evidence().by(),
        "logs", text(transport.evidence().logs()));
  }

  /** One thing that differed between two runs. */
  public static Json.Obj difference(RunDifference difference) {
    return Json.object(
        "of", difference.kind().word(),
        "what", difference.what(),
        "first", text(Clean.masked(difference.first())),
        "second", text(Clean.masked(difference.second())));
  }

  /**
   * A backend.
   *
   * @param explanation how it is reached; empty unless that was requested
   */
  public static Json.Obj backend(BackendView backend, Optional<List<String>> explanation) {
    return Json.object(
        "name", backend.name(),
        "kind", backend.kind(),
        "usable", backend.isUsable(),
        "description", backend.description(),
        "from", backend.origin(),
        "explanation", explanation);
  }

  /** A port of this machine that leads to a node. */
  public static Json.Obj forward(PortForward forward) {
    return Json.object(
        "local", forward.local(),
        "node", forward.node(),
        "port", forward.port(),
        "problem", forward.problem());
  }

  /** What {@code sync} has brought to the nodes. */
  public static Json.Obj synced(SessionView session, long generation) {
    return Json.object(
        "session", session.name().text(), "nodes", session.size(), "generation", generation);
  }

  /** Where the files of a session stand. */
  public static Json.Obj sync(SessionView session, SyncView state) {
    return Json.object(
        "session",
        session.name().text(),
        "mode",
        state.mode().word(),
        "synced",
        state.isSynced(),
        "generation",
        state.generation(),
        "nodes",
        state.nodes().stream().map(Documents::syncedNode).toList(),
        "edit",
        state.editNode(),
        "pending",
        state.pending(),
        "incoming",
        state.incoming().word(),
        "held",
        state.held().stream()
            .map(held -> Json.object("path", text(held.what()), "why", held.why()))
            .toList(),
        "staying",
        state.staying().stream()
            .map(held -> Json.object("path", held.what(), "why", held.why()))
            .toList(),
        "watching",
        text(state.watching()),
        "versions",
        state.versions().held().stream().map(Documents::held).toList(),
        "trashes",
        state.versions().trashes().stream()
            .map(
                trash ->
                    Json.object(
                        "node", trash.node(),
                        "folder", trash.folder(),
                        "bytes", trash.bytes(),
                        "files", trash.files()))
            .toList(),
        "history",
        text(state.history()));
  }

  static Json.Obj held(HeldPath path) {
    return Json.object(
        "path", path.path(),
        "why", path.why(),
        "node", path.node(),
        "here", path.here().map(Instant::toString),
        "there", path.there().map(Instant::toString));
  }

  /** Why a path is sent or not. */
  public static Json.Obj explained(SendReason reason) {
    return Json.object(
        "path", reason.path(),
        "kind", reason.kind().word(),
        "sent", reason.verdict().isSent(),
        "why", reason.verdict().word(),
        "at", reason.at(),
        "rule",
            reason
                .rule()
                .map(
                    rule ->
                        Json.object(
                            "pattern", rule.pattern(), "file", rule.file(), "line", rule.line())));
  }

  private static Json.Obj syncedNode(SyncView.Node node) {
    return Json.object(
        "node", node.index(), "generation", node.generation(), "behind", text(node.behind()));
  }

  /**
   * What {@code pull} has fetched.
   *
   * @param path inside the workspace
   */
  public static Json.Obj pulled(SessionView session, int node, String path) {
    return Json.object(
        "session",
        session.name().text(),
        "node",
        node,
        "path",
        path,
        "file",
        session.root().resolve(path).toString());
  }

  /** What {@code logs --fetch} has written. */
  public static Json.Obj fetched(RunView run, Path folder, long bytes) {
    return Json.object(
        "session", run.session(), "run", run.number(), "folder", folder.toString(), "bytes", bytes);
  }

  /** A session that was given back. */
  public static Json.Obj givenBack(SessionView session, GivenBack end) {
    return Json.object(
        "session", session.name().text(),
        "backend", session.backend(),
        "stopped", end.stopped(),
        "kept", end.kept());
  }

  /** What the end of a session would mean. */
  public static Json.Obj ending(SessionView session, Ending end) {
    return Json.object(
        "session", session.name().text(),
        "backend", session.backend(),
        "running", end.running().stream().map(Ending.Going::number).toList(),
        "lost", end.lost());
  }

  /** What {@code stop} has ended; empty: the request of a session that waited. */
  public static Json.Obj stopped(SessionView session, Optional<RunView> run) {
    return Json.object(
        "session", session.name().text(),
        "run", run.map(RunView::number),
        "state", run.map(each -> each.state().word()),
        "exit", run.flatMap(RunView::exit));
  }

  /** The logins of a backend, all of which are open. */
  public static Json.Obj login(String backend, List<Gate> open) {
    return Json.object("backend", backend, "logins", open.stream().map(Gate::name).toList());
  }

  /** How ssh clients find sessions. */
  public static Json.Obj link(SshAccess ssh) {
    return Json.object(
        "linked", ssh.isLinked(), "file", ssh.configFile().toString(), "text", ssh.configText());
  }

  /** The last line of {@code logs --json}. */
  public static Json.Obj end(RunView run) {
    return Json.object(
        "type",
        "end",
        "run",
        run.number(),
        "state",
        run.state().word(),
        "exit",
        run.exit(),
        "failure",
        run.failure().map(Documents::failure));
  }

  /**
   * Who failed first: {@code text} is the sentence, {@code code} and {@code facts} are for
   * programs.
   */
  private static Json.Obj failure(RunFailure failure) {
    return Json.object(
        "rank", failure.rank() < 0 ? Optional.empty() : Optional.of(failure.shownRank()),
        "node", failure.where().node(),
        "host", failure.where().host(),
        "gpu", failure.where().gpu(),
        "exit", failure.exit(),
        "signal", failure.signal(),
        "code", failure.code(),
        "facts", failure.facts(),
        "same_ranks", failure.same(),
        "left", failure.left(),
        "text", new RunFailureText(failure).line());
  }

  public static Json.Obj finding(Sessions.Finding finding) {
    return Json.object(
        "status", finding.status(),
        "what", finding.what(),
        "detail", finding.detail(),
        "remedy", finding.remedy());
  }

  public static Json.Obj template(Configs.Template template) {
    return Json.object(
        "name", template.name(), "summary", template.summary(), "from", template.origin());
  }

  public static Json.Obj config(Config config) {
    return Json.object(
        "root", config.root().toString(),
        "root_reason", config.rootReason(),
        "backends", config.order(),
        "settings",
            config.settings().stream()
                .map(
                    setting ->
                        Json.object(
                            "key", setting.key(),
                            "value", setting.value(),
                            "from", setting.origin()))
                .toList(),
        "unsupported",
            config.unsupported().stream()
                .map(
                    key ->
                        Json.object(
                            "key", key.key(),
                            "effect", key.effect(),
                            "from", key.origin()))
                .toList());
  }

  /**
   * The answer of each backend, and the chosen ones.
   *
   * @param failures makes the text of a failure
   */
  public static Json.Arr plans(Outlook outlook, FailureText failures) {
    var rows = new ArrayList<Json>();
    for (Outlook.Offer offer : outlook.offers()) {
      boolean isChosen = outlook.chosen().contains(offer.backend());
      rows.add(
          plan(offer, failures)
              .with("price", offer.price())
              .with(
                  "smaller",
                  Optional.ofNullable(outlook.smaller().get(offer.backend()))
                      .map(
                          part ->
                              Json.object("nodes", part.nodes(), "gpus", part.gpus().toString())))
              .with("chosen", isChosen)
              .with("why", isChosen ? text(outlook.why()) : Optional.empty()));
    }
    return Json.array(rows);
  }

  private static Json.Obj plan(Outlook.Offer offer, FailureText failures) {
    String backend = offer.backend();
    return switch (offer.answer()) {
      case Outlook.Answer.Failed(var failure) ->
          plan(
              backend,
              "unknown",
              failures.of(failure).what() + ": " + failures.of(failure).because().getFirst(),
              Optional.empty(),
              List.of(),
              List.of());
      case Outlook.Answer.Planned(Plan.Now(var what)) ->
          plan(backend, "now", what, Optional.empty(), List.of(), List.of());
      case Outlook.Answer.Planned(Plan.Later(var reason, var estimate, var holders)) ->
          plan(backend, "later", reason, estimate, holders, List.of());
      case Outlook.Answer.Planned(Plan.Never(var reason, var works)) ->
          plan(backend, "never", reason, Optional.empty(), List.of(), works);
    };
  }

  private static Json.Obj plan(
      String backend,
      String when,
      String detail,
      Optional<Duration> estimate,
      List<String> holders,
      List<String> works) {
    return Json.object(
        "backend", backend,
        "when", when,
        "detail", detail,
        "estimate_s", estimate.map(Duration::toSeconds),
        "holders", holders,
        "would_fit", works);
  }

  private static String moment(Instant instant) {
    return instant.truncatedTo(java.time.temporal.ChronoUnit.SECONDS).toString();
  }

  private static long seconds(Duration duration) {
    return Math.max(0, duration.toSeconds());
  }

  static Optional<String> text(String text) {
    return Optional.of(text).filter(value -> !value.isEmpty());
  }
}
