package dev.gpush.shell.command.session;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.PortForward;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.reach.ForwardCommand;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.SessionText;
import dev.gpush.shell.render.SyncText;
import dev.gpush.shell.render.Table;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;

@Command(
    name = "ps",
    header = "List your sessions",
    description = {
      "LEASE is the time until the nodes are given back: in any case (5h12m), or if nothing uses"
          + " them (48m idle). Below the table is what uses them, or since when nothing does (an"
          + " open connection does not count as use), and whether all nodes have your files or what"
          + " is on its way."
    },
    footer = {
      "$ gpush ps",
      "NAME    BACKEND  SHAPE        STATE  AGE  LEASE     RUNS  FOLDER",
      "devbox  local    2 cpu nodes  ready  52m  20m idle  -     ~/proj",
      "devbox: idle for 40m, since a command; VS Code is connected and silent",
      "devbox is synced: all nodes have G43"
    })
public final class PsCommand implements Action {
  @Override
  public int run(Call call) {
    List<SessionView> sessions;
    try (Talk.Step _ = call.talk().step("asking the nodes")) {
      sessions =
          call.common().session.isPresent()
              ? List.of(call.session())
              : call.services().sessions().list();
    }
    if (call.common().json) {
      call.print(
          Json.array(sessions.stream().map(view -> Documents.session(view, call.now())).toList()));
      return 0;
    }
    if (sessions.isEmpty()) {
      call.say("no sessions; gpush up gets one");
      sayEnded(call);
      return 0;
    }
    Table table = new Table("NAME", "BACKEND", "SHAPE", "STATE", "AGE", "LEASE", "RUNS", "FOLDER");
    for (SessionView session : sessions) {
      table.row(
          session.name().text(),
          session.backend(),
          session.shape(),
          session.status().needsLogin().isPresent() ? "needs you" : session.state().word(),
          DurationText.coarse(Duration.between(session.created(), call.now())),
          SessionText.lease(session),
          session.runsInProgress() == 0 ? "" : "" + session.runsInProgress(),
          call.shortened(session.root()));
    }
    call.print(table);
    for (SessionView session : sessions) {
      if (!session.detail().isEmpty()) {
        call.say(session.name() + standing(session, call) + ": " + session.detail());
      }
    }
    sessions.forEach(session -> sayActivity(call, session));
    sessions.forEach(session -> saySync(call, session));
    sessions.forEach(session -> sayNetworks(call, session));
    sessions.forEach(session -> sayWarm(call, session));
    sessions.forEach(session -> sayForwards(call, session));
    sayEnded(call);
    return 0;
  }

  /** Why its nodes are kept, or since when nothing keeps them. */
  private static void sayActivity(Call call, SessionView session) {
    if (session.state().hasNodes() && !session.lease().activity().isEmpty()) {
      call.say(session.name() + ": " + Clean.line(session.lease().activity()));
    }
  }

  /** Whether all have the same files, or what is on its way or held. */
  private static void saySync(Call call, SessionView session) {
    SyncView sync = session.sync();
    if (session.state() == SessionState.READY && sync.mode() != SyncView.Mode.OFF) {
      call.say(session.name() + " " + new SyncText(sync).headline());
    }
  }

  /** The networks of runs in progress that are known. */
  private static void sayNetworks(Call call, SessionView session) {
    if (session.runsInProgress() == 0) {
      return;
    }
    for (RunView run : call.services().runs().list(session.name())) {
      if (!run.isOver()) {
        run.transport()
            .ifPresent(
                network ->
                    call.say(
                        session.name()
                            + ", run "
                            + run.number()
                            + ": "
                            + Clean.line(network.sentence())));
      }
    }
  }

  /** They take memory, which is seen nowhere else; nodes have the same ones. */
  private static void sayWarm(Call call, SessionView session) {
    for (SessionView.WarmInterpreter interpreter : session.work().warm()) {
      call.say(
          session.name()
              + ": an interpreter for warm starts of "
              + Clean.line(interpreter.program())
              + (interpreter.isReady() ? "" : " is importing")
              + " on each node, "
              + (interpreter.bytes() >> 20)
              + " MiB");
    }
  }

  private static void sayForwards(Call call, SessionView session) {
    for (PortForward forward : call.services().sessions().forwards(session.name())) {
      call.say(session.name() + ": " + ForwardCommand.line(forward));
    }
  }

  private static String standing(SessionView session, Call call) {
    return switch (session.state()) {
      case READY -> "";
      case QUEUED ->
          " is queued for " + DurationText.coarse(Duration.between(session.created(), call.now()));
      case ASKED, GRANTED, DEGRADED, RELEASING, RELEASED, LEAKED -> " is " + session.state().word();
    };
  }

  /**
   * Reports requests that failed while no command followed them; up reports them too, and tries
   * again.
   */
  private static void sayEnded(Call call) {
    for (Sessions.EndedRequest ended : call.services().sessions().ended()) {
      call.say(
          ended.session()
              + ", requested "
              + DurationText.coarse(Duration.between(ended.asked(), call.now()))
              + " ago, failed: "
              + ended.why());
    }
  }
}
