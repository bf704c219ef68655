package dev.gpush.gateway.session;

import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.run.SavedFiles;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.gateway.session.links.SessionLinks;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionWork;
import dev.gpush.gateway.session.live.TurnQueue;
import dev.gpush.sync.tree.Manifest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Waits for saves in a session's workspace, and brings them to its nodes.
 *
 * <p>It looks at the tree, as a push does, and compares it with what was pushed: when the session's
 * watcher reports a change, and again and again where changes are not reported.
 */
final class SaveWatch {
  /** A save is noticed after this at the latest, in a tree that is looked at quickly. */
  private static final Duration PAUSE = Duration.ofMillis(500);

  /** Looking takes at most a twentieth of the time. */
  private static final int SHARE = 20;

  /**
   * Editors and formatters write several files; when nothing has changed for this long, they are
   * done.
   */
  private static final Duration QUIET = Duration.ofMillis(300);

  /** After a failure: most need the user, or a network that comes back. */
  private static final Duration AGAIN = Duration.ofSeconds(5);

  private final LiveSession session;
  private final Steps steps;
  private final Clock clock;

  /** What it does besides looking. */
  interface Steps {
    /** Fails when the session has ended. */
    void requireSession();

    /** Opens the links that are not open, and brings the workspace to all nodes. */
    void push() throws InterruptedException;

    /** Lets time pass. */
    void pause(Duration time) throws InterruptedException;

    /** Waits for a change at most this long, or longer where each change is noticed at once. */
    default void awaitChange(Duration time) throws InterruptedException {
      pause(time);
    }
  }

  /**
   * Those of a session and its links.
   *
   * @param requireThere fails when the session has ended
   */
  record OfSession(
      LiveSession session, SessionLinks links, boolean overwrite, Runnable requireThere)
      implements Steps {
    /** It looks at the tree itself after this time at the latest. */
    private static final Duration NOTICED = Duration.ofSeconds(30);

    @Override
    public void requireSession() {
      requireThere.run();
    }

    @Override
    public void push() throws InterruptedException {
      // Unlike gpush sync, it tells the user nothing about restarts.
      try (TurnQueue.Turn _ = session.begin("sync", Talk.silent())) {
        links.ensure(session, Talk.silent());
        session.work().push(overwrite, Talk.silent());
        session.work().prepare(Talk.silent());
      }
    }

    @Override
    public void pause(Duration time) throws InterruptedException {
      Thread.sleep(time);
    }

    @Override
    public void awaitChange(Duration time) throws InterruptedException {
      Optional<SessionWork> work = session.workIfAny();
      if (work.isEmpty() || !work.get().live().awaitPending(NOTICED)) {
        Thread.sleep(time);
      }
    }
  }

  SaveWatch(LiveSession session, Steps steps, Clock clock) {
    this.session = session;
    this.steps = steps;
    this.clock = clock;
  }

  /**
   * Returns when the nodes have newer files than those of a generation.
   *
   * @param failed told of each failure once, until it is another one
   */
  SavedFiles await(long generation, Consumer<Failure> failed) throws InterruptedException {
    Optional<Manifest> base = Optional.empty();
    Optional<Failure> told = Optional.empty();
    while (true) {
      steps.requireSession();
      try {
        Optional<SessionWork> work = session.workIfAny();
        if (work.isPresent() && work.get().generation() > generation) {
          Manifest pushed = work.get().pushed();
          return new SavedFiles(
              work.get().generation(), base.map(pushed::differences).orElse(List.of()));
        }
        if (work.isPresent() && work.get().generation() == generation) {
          base = Optional.of(work.get().pushed());
        }
        // Without links, or after the gateway has made new ones, only a push can tell.
        if (work.isEmpty() || work.get().generation() < generation || isSaved(work.get())) {
          steps.push();
        }
        told = Optional.empty();
      } catch (GpushException failure) {
        if (!told.equals(Optional.of(failure.failure()))) {
          failed.accept(failure.failure());
        }
        told = Optional.of(failure.failure());
        steps.pause(AGAIN);
      }
    }
  }

  /** Looks, and waits a moment; after a change, until there is no further one. */
  private boolean isSaved(SessionWork work) throws InterruptedException {
    long begun = clock.nanos();
    Manifest pushed = work.pushed();
    Manifest now = work.look();
    Duration took = Duration.ofNanos(clock.nanos() - begun);
    if (now.equals(pushed)) {
      Duration share = took.multipliedBy(SHARE);
      steps.awaitChange(share.compareTo(PAUSE) > 0 ? share : PAUSE);
      return false;
    }
    while (true) {
      steps.pause(QUIET);
      Manifest next = work.look();
      if (next.equals(now)) {
        return !now.equals(pushed);
      }
      now = next;
    }
  }
}
