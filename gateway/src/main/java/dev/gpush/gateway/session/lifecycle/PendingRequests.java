package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.backend.Observation;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.talk.TracedTalk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.links.SessionLinks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.PendingRequest;
import dev.gpush.gateway.session.live.SharedTalk;
import dev.gpush.gateway.session.live.TurnQueue;
import dev.gpush.gateway.session.placement.Placement;
import dev.gpush.gateway.session.placement.Preferences;
import dev.gpush.gateway.session.placement.ResolvedUp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Makes sessions: reserves, links, syncs, and undoes all of it when that fails, unless another
 * gateway has the gang. Each request runs in the gateway and belongs to no client. A gateway that
 * ends leaves queued requests to the next one, which {@link #resume resumes} them.
 */
public final class PendingRequests {
  private final Placement placement;
  private final SessionLinks links;
  private final PendingReleases releases;
  private final SessionEndings endings;
  private final UnreportedFailures ended;
  private final Preferences preferences;
  private final Configs configs;
  private final QueuedIdleTime idleTime;
  private final Duration pause;
  private final Clock clock;
  private final Tasks tasks;
  private final Runnable changed;

  /**
   * @param pause between two attempts to reach an unreachable backend
   */
  public PendingRequests(
      Placement placement,
      SessionLinks links,
      PendingReleases releases,
      SessionEndings endings,
      UnreportedFailures ended,
      Preferences preferences,
      Configs configs,
      QueuedIdleTime idleTime,
      Duration pause,
      Clock clock,
      Tasks tasks,
      Runnable changed) {
    this.placement = placement;
    this.links = links;
    this.releases = releases;
    this.endings = endings;
    this.ended = ended;
    this.preferences = preferences;
    this.configs = configs;
    this.idleTime = idleTime;
    this.pause = pause;
    this.clock = clock;
    this.tasks = tasks;
    this.changed = changed;
  }

  /**
   * Begins to make a new session; its turn passes to the request.
   *
   * @param talk of the command that makes the request; it may end long before the request does
   */
  public PendingRequest begin(
      LiveSession session, TurnQueue.Turn turn, Config config, ResolvedUp wish, Talk talk) {
    var shared = new SharedTalk(talk.isAnswered("--yes"), true);
    return start(session, turn, shared, pending -> make(session, config, wish, pending));
  }

  /** Continues a request that an earlier gateway has left in a queue; submits nothing new. */
  public PendingRequest resume(LiveSession session, TurnQueue.Turn turn) {
    return start(
        session,
        turn,
        new SharedTalk(false),
        pending -> {
          Config config = configuration(session, pending);
          make(session, config, ResolvedUp.of(session.entry()), pending);
        });
  }

  private PendingRequest start(
      LiveSession session, TurnQueue.Turn turn, SharedTalk talk, PendingRequest.Making work) {
    Instant created = session.entry().created();
    var traced =
        session.isWaiting()
            ? new TracedTalk(talk, clock, Duration.between(created, clock.now()))
            : new TracedTalk(talk, clock);
    var pending = new PendingRequest(session.name(), talk, traced);
    session.pending(pending);
    pending.start(tasks, turn, work);
    return pending;
  }

  /** A configuration that cannot be read now does not end a wait that started earlier. */
  private Config configuration(LiveSession session, PendingRequest pending)
      throws InterruptedException {
    while (true) {
      try {
        return configs.load(session.entry().root());
      } catch (GpushException invalid) {
        session.waits("its configuration cannot be read (gpush config)");
      }
      try {
        Thread.sleep(pause);
      } catch (InterruptedException stop) {
        if (!isLeft(pending)) {
          endings.undo(session, true);
        }
        throw stop;
      }
    }
  }

  private void make(LiveSession session, Config config, ResolvedUp wish, PendingRequest pending)
      throws InterruptedException {
    Talk talk = pending.traced();
    Placement.Taking taking = placement.taking(session, config, wish, talk);
    boolean isKept = false;
    Optional<String> unheard = Optional.empty();
    try {
      wish.notes().forEach(talk::say);
      taking.take();
      if (session.gang().isBorrowed()) {
        talk.say("its nodes are " + session.gang().detail() + "; gpush down leaves them running");
      }
      try (Talk.Step _ = talk.phase(Stage.AGENTS, "reaching the nodes")) {
        connect(session, config, talk);
      }
      idleTime.apply(session, talk);
      String unsent = push(session, pending);
      session.work().live().view(Duration.ZERO).limitation().ifPresent(talk::say);
      session
          .changeAnyway(was -> was.in(SessionState.READY, unsent).traced(talk.trace()))
          .ifPresent(unwritten -> talk.say(unwritten(session, unwritten)));
      isKept = true;
    } catch (GpushException failed) {
      if (session.superseded().isPresent()) {
        // Another gateway of this home waited for the same gang, and links it now.
        isKept = true;
        taking.end();
        links.watch(session);
        changed.run();
        return;
      }
      unheard = unheard(session, pending, failed);
      throw failed;
    } finally {
      if (!isKept) {
        taking.end();
        if (!isLeft(pending)) {
          endings.undo(session, taking.hasAsked());
          unheard.ifPresent(why -> ended.add(session, why));
        }
      }
    }
    releases.sweepSoon(session, taking::end);
    links.restoreLease(session);
    links.observeSoon(session);
    preferences.remember(config.root(), wish);
    changed.run();
    try {
      prepare(session, pending);
    } finally {
      keepTrace(session, pending);
    }
  }

  private static String unwritten(LiveSession session, GpushException failed) {
    return session.name()
        + " is ready, but this cannot be recorded: "
        + FailureText.clause(failed.failure())
        + "; the next gateway has to look for its nodes";
  }

  private static void keepTrace(LiveSession session, PendingRequest pending) {
    if (session.entry().state() == SessionState.READY) {
      session.changeAnyway(was -> was.traced(pending.traced().trace()));
    }
  }

  /**
   * The nodes stay when their environment cannot be made or the user does not wait for it: that can
   * be repaired from a shell, and others may use them already.
   */
  private static void prepare(LiveSession session, PendingRequest pending)
      throws InterruptedException {
    if (session.work().generation() == 0) {
      return; // Its files are not there.
    }
    try {
      session.work().prepare(pending.traced());
    } catch (GpushException failed) {
      if (pending.talk().isFollowed() && !pending.isCancelled()) {
        throw failed;
      }
      note(session, FailureText.clause(failed.failure()));
    } catch (InterruptedException stop) {
      note(session, "its environment was not finished");
      throw stop;
    }
  }

  private static void note(LiveSession session, String why) {
    session.changeAnyway(was -> was.in(SessionState.READY, why + "; gpush up tries again"));
  }

  /** The gateway ends, and the user has not cancelled the request. */
  private boolean isLeft(PendingRequest pending) {
    return tasks.isClosed() && !pending.isCancelled();
  }

  /**
   * Nodes that were waited for in a queue are not given back because they cannot be reached at this
   * moment: gpush tries until they answer or their backend says that they are gone.
   */
  private void connect(LiveSession session, Config config, Talk talk) throws InterruptedException {
    String told = "";
    while (true) {
      try {
        links.connect(session, config, talk);
        return;
      } catch (GpushException failed) {
        if (!session.backend().capabilities().hasQueue()
            || failed.failure() instanceof AgentFailure.Superseded) {
          throw failed;
        }
        requireThere(session, failed);
        String why = "its nodes cannot be reached yet: " + FailureText.clause(failed.failure());
        if (!why.equals(told)) {
          talk.say(why);
          session.changeAnyway(was -> was.in(SessionState.GRANTED, why));
        }
        told = why;
      }
      Thread.sleep(pause);
    }
  }

  private static void requireThere(LiveSession session, GpushException failed) {
    switch (session.backend().observe(session.gang())) {
      case Observation.Gone(var reason) ->
          throw new GpushException(new SessionFailure.Gone(session.name().text(), reason), failed);
      case Observation.Partly _ -> throw failed;
      case Observation.Exists _, Observation.CannotTell _ -> {}
    }
  }

  /**
   * A failed push does not release nodes that no command waits for: the next command sends the
   * files, and can ask questions. Held files release none, because the user decides about them in
   * the session.
   *
   * @return a sentence about files that were not sent; empty when they were
   */
  private static String push(LiveSession session, PendingRequest pending)
      throws InterruptedException {
    try {
      session.work().push(false, pending.traced());
      return "";
    } catch (GpushException failed) {
      if (failed.failure() instanceof SyncFailure.Held(var paths)) {
        String held = held(paths);
        pending.talk().say(held);
        return held;
      }
      if (pending.talk().isFollowed()) {
        throw failed;
      }
      return "its files were not sent ("
          + FailureText.clause(failed.failure())
          + "); gpush up sends them";
    }
  }

  private static String held(List<SyncFailure.HeldPath> paths) {
    SyncFailure.HeldPath first = paths.getFirst();
    return first.path()
        + " is held: "
        + first.why()
        + (paths.size() == 1 ? "" : "; so are " + (paths.size() - 1) + " more")
        + "; everything else was sent; gpush sync --keep laptop|node PATH decides";
  }

  /** Why it failed, if no command follows it. */
  private Optional<String> unheard(
      LiveSession session, PendingRequest pending, GpushException failed) {
    if (pending.talk().isFollowed() || pending.isCancelled() || tasks.isClosed()) {
      return Optional.empty();
    }
    return Optional.of(
        switch (failed.failure()) {
          case BackendFailure.Nowhere(var refusals) ->
              refusals.stream()
                  .map(each -> FailureText.clause(each.backend(), each.failure()))
                  .collect(Collectors.joining("; "));
          case SessionFailure.Gone(_, var reason) -> reason;
          case Failure other -> FailureText.clause(session.entry().backend(), other);
        });
  }
}
