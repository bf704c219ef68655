package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions.GivenBack;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionRegistry;
import dev.gpush.gateway.session.live.SessionWork;
import dev.gpush.gateway.session.live.TurnQueue;
import java.util.List;
import java.util.Optional;

/**
 * How sessions end: given back, undone after a failure, or gone by themselves. Each is then
 * unregistered, or stays registered as leaked.
 */
public final class SessionEndings {
  /** Answers the question about runs: to end them is what the user asked for. */
  private static final String YES = "--yes";

  /**
   * Answers the question about files, where {@code --yes} is not enough, and the one about runs.
   */
  private static final String DISCARD = "--discard";

  private final SessionRegistry registry;
  private final PendingReleases releases;
  private final Runnable changed;

  public SessionEndings(SessionRegistry registry, PendingReleases releases, Runnable changed) {
    this.registry = registry;
    this.releases = releases;
    this.changed = changed;
  }

  /**
   * Leaves nothing reserved or half-written: releases the gang whatever the reason was, then
   * removes the entry. The first failure is the one that is reported.
   */
  void undo(LiveSession session, boolean isAsked) {
    boolean isInterrupted = Thread.interrupted();
    boolean isGone = false;
    String why = "giving it back failed";
    try (session) {
      session.stop();
      if (isAsked) {
        releases.releaseAll(session);
      }
      isGone = true;
    } catch (GpushException stillThere) {
      why = why(stillThere);
    } catch (InterruptedException again) {
      isInterrupted = true;
      why = "interrupted while giving it back";
    } finally {
      if (isGone) {
        session.forget();
        registry.remove(session);
      } else {
        session.leak(why);
      }
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * A failure as the reason in a ledger entry or a finding; whole messages are made by the shell.
   */
  public static String why(GpushException failed) {
    return switch (failed.failure()) {
      case BackendFailure.NotReleased(_, _, var reason) -> reason;
      case BackendFailure.Unavailable(_, var reason, _) -> reason;
      case Failure other -> FailureText.clause(other);
    };
  }

  /**
   * Gives a session back because the user asked for it, directly or by replacing it: runs in
   * progress and files that exist only on the nodes are asked about first. Every command that ends
   * an existing session uses this. The caller has the turn.
   *
   * @param isDiscarding the answer was given beforehand, by {@value #DISCARD}
   * @return the runs that were stopped, and the files that were kept because gpush did not make
   *     them
   */
  public GivenBack giveBackAsked(
      LiveSession session, String reason, boolean isDiscarding, Talk talk)
      throws InterruptedException {
    // For a leaked session the user was asked when it was given back for the first time.
    if (session.entry().state() != SessionState.LEAKED) {
      boolean isConfirmed = false;
      try {
        if (!isDiscarding) {
          confirmRuns(session, talk);
        }
        bringCommitsHome(session, isDiscarding, talk);
        if (!isDiscarding) {
          UnsavedFiles.confirm(session, talk, DISCARD);
        }
        isConfirmed = true;
      } finally {
        if (!isConfirmed) {
          session.workIfAny().ifPresent(SessionWork::goesOn);
        }
      }
    }
    return giveBack(session, reason, talk);
  }

  /** Asks if that is not possible and they would be lost. */
  private static void bringCommitsHome(LiveSession session, boolean isDiscarding, Talk talk)
      throws InterruptedException {
    Optional<SessionWork> work = session.workIfAny();
    Optional<String> problem = work.isPresent() ? work.get().bringCommitsHome() : Optional.empty();
    boolean isLost = problem.isPresent() && !session.backend().capabilities().keepsFiles();
    if (isLost && !isDiscarding) {
      talk.confirm(
          "commits that were made on the nodes of "
              + session.name()
              + " could not be looked for and would be lost, because "
              + problem.get()
              + "; give the nodes back?",
          DISCARD);
    }
  }

  /** Names the runs that would be ended, and asks. */
  private static void confirmRuns(LiveSession session, Talk talk) {
    List<String> running = session.workIfAny().map(SessionWork::runningWords).orElse(List.of());
    if (!running.isEmpty()) {
      talk.confirm(
          String.join(", ", running)
              + (running.size() == 1 ? " is" : " are")
              + " in progress on "
              + session.name()
              + "; stop "
              + (running.size() == 1 ? "it" : "them")
              + " and give the nodes back?",
          YES);
    }
  }

  /**
   * Gives a session back without a question. The caller has the turn.
   *
   * @param reason why it ended by itself; empty when the user asked for it
   * @return the runs that were stopped, and the files that were kept because gpush did not make
   *     them
   */
  public GivenBack giveBack(LiveSession session, String reason, Talk talk)
      throws InterruptedException {
    boolean isGone = false;
    String why = "giving it back failed";
    List<Integer> running =
        session.workIfAny().map(SessionWork::running).orElse(List.of()).stream()
            .map(RunView::number)
            .toList();
    List<String> words = session.workIfAny().map(SessionWork::runningWords).orElse(List.of());
    try (Talk.Step _ = talk.step("giving " + session.name() + " back")) {
      session
          .moveAnyway(session.entry().in(SessionState.RELEASING, reason))
          .ifPresent(problem -> talk.say("the ledger cannot be written: " + problem.getMessage()));
      changed.run();
      session.stop();
      List<String> kept = releases.releaseAll(session);
      isGone = true;
      words.forEach(run -> talk.say("stopped " + run));
      return new GivenBack(running, kept);
    } catch (GpushException failed) {
      why = why(failed);
      throw failed;
    } catch (InterruptedException stop) {
      why = "interrupted while giving it back";
      throw stop;
    } finally {
      session.close();
      if (isGone) {
        session.moveAnyway(session.entry().in(SessionState.RELEASED, reason));
        registry.remove(session);
      } else {
        session.leak(why);
        changed.run();
      }
    }
  }

  /**
   * The gang ended by itself (its lease ended, or it was killed): cleans up what is left of it and
   * ends the session with the reason.
   */
  public void ended(LiveSession session, String reason) throws InterruptedException {
    try (TurnQueue.Turn _ = session.begin("clean-up", Talk.silent())) {
      if (!session.isOver() && !session.isClosed()) {
        giveBack(session, reason, Talk.silent());
      }
    } catch (GpushException leaked) {
      // The session shows this as its detail.
    }
  }
}
