package dev.gpush.gateway.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.LaunchEvent;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunTarget;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.launch.Launcher;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Finds or makes the session of one run, and launches there. A session that is ready is used as it
 * is, because the launch checks its links and files: doing that twice would double the wait.
 */
final class RunSessions {
  private final GatewaySessions sessions;
  private final Launching launching;
  private final Consumer<LaunchEvent> events;
  private final Talk talk;

  /** Launches on an existing session. */
  @FunctionalInterface
  interface Launching {
    RunView launch(SessionName session, RunRequest request, Talk talk) throws InterruptedException;
  }

  RunSessions(
      GatewaySessions sessions, Launching launching, Consumer<LaunchEvent> events, Talk talk) {
    this.sessions = sessions;
    this.launching = launching;
    this.events = events;
    this.talk = talk;
  }

  RunView launch(RunTarget target, RunRequest request) throws InterruptedException {
    RunRequest.Command command = request.command();
    Optional<SessionView> ready = sessions.ready(target.session(), command.folder());
    if (ready.isPresent()) {
      try {
        return launchOn(ready.get(), target, request);
      } catch (GpushException failed) {
        if (!(failed.failure() instanceof SessionFailure.Gone(var session, var reason))) {
          throw failed;
        }
        events.accept(new LaunchEvent.SessionGone(session, reason));
      }
    }
    if (command.words().isEmpty()) {
      String session = target.session().map(SessionName::text).orElse("this folder");
      throw new GpushException(new LaunchFailure.NothingToRepeat(session));
    }
    Path root = sessions.root(command.folder());
    Launcher.check(command.words(), root, command.folder());
    return launchOnNew(target, request);
  }

  /** Makes a session, or attaches to one that is not ready, which makes it ready. */
  private RunView launchOnNew(RunTarget target, RunRequest request) throws InterruptedException {
    SessionView made = sessions.up(up(target, request), talk);
    if (!made.isNew()) {
      return launchOn(made, target, request);
    }
    try {
      events.accept(new LaunchEvent.SessionMade(made));
      // Its size is what the run asked for.
      return launching.launch(made.name(), request.claiming(request.claim().ofAll()), talk);
    } catch (GpushException failed) {
      giveBack(made.name());
      throw failed;
    }
  }

  private RunView launchOn(SessionView session, RunTarget target, RunRequest request)
      throws InterruptedException {
    List<SessionFailure.Difference> lacking = lacking(session, target, request.claim());
    if (!lacking.isEmpty()) {
      throw new GpushException(new SessionFailure.Differs(session.name().text(), lacking));
    }
    return launching.launch(session.name(), request, talk);
  }

  /** The launch has failed already; a failure here must not hide that. */
  private void giveBack(SessionName session) throws InterruptedException {
    Sessions.GivenBack end;
    try {
      end = sessions.down(session, false, talk);
    } catch (GpushException failed) {
      events.accept(new LaunchEvent.SessionKept(session, failed.failure()));
      return;
    }
    events.accept(new LaunchEvent.SessionGivenBack(session, end));
  }

  private static UpRequest up(RunTarget target, RunRequest request) {
    RunRequest.Claim claim = request.claim();
    RunRequest.Command command = request.command();
    UpRequest.Wanted wanted =
        UpRequest.Wanted.asConfigured()
            .on(target.backend())
            .size(claim.nodes(), claim.gpus())
            .natives(target.natives());
    return UpRequest.of(command.folder(), command.environment())
        .named(target.session())
        .wanting(wanted)
        .leased(new UpRequest.Lease(target.hardEnd(), Optional.empty()))
        .onExisting(UpRequest.Existing.TAKE_ANY);
  }

  /** A run uses a part of the session, never more. */
  private static List<SessionFailure.Difference> lacking(
      SessionView session, RunTarget target, RunRequest.Claim claim) {
    var lacking = new ArrayList<SessionFailure.Difference>();
    claim
        .nodes()
        .filter(asked -> asked > session.nodes().size())
        .ifPresent(asked -> lacking.add(difference("nodes", session.nodes().size(), asked)));
    claim
        .gpus()
        .filter(asked -> exceeds(asked, session.gpus()))
        .ifPresent(asked -> lacking.add(difference("gpus", session.gpus(), asked)));
    target
        .backend()
        .filter(asked -> !asked.equals(session.backend()))
        .ifPresent(asked -> lacking.add(difference("backend", session.backend(), asked)));
    return lacking;
  }

  private static boolean exceeds(GpuRequest asked, GpuRequest there) {
    boolean otherModel =
        asked.model().isPresent()
            && there.model().isPresent()
            && !asked.model().get().equalsIgnoreCase(there.model().get());
    return !asked.isNone() && (otherModel || asked.count() > there.count());
  }

  private static SessionFailure.Difference difference(String what, Object has, Object asked) {
    return new SessionFailure.Difference(what, has.toString(), asked.toString());
  }
}
