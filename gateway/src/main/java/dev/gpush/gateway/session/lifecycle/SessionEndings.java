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
   * Gives a session back because the user asked for it, without waiting for a push.
   *
   * @param isDiscarding the answer to questions about files was given beforehand
   * @return what {@link #giveBack} does; empty if the session was over before its turn came
   */
  public Optional<GivenBack> down(LiveSession session, boolean isDiscarding, Talk talk)
      throws InterruptedException {
    try (var consent = new EndConsent(isDiscarding, talk)) {
      Optional<TurnQueue.Turn> turn = begin(session, "down", consent, talk);
      while (turn.isEmpty()) {
        session.pending().ifPresent(pending -> RequestFollowing.giveUp(session, pending, talk));
        turn = begin(session, "down", consent, talk);
      }
      try (TurnQueue.Turn _ = turn.get()) {
        if (session.isOver()) {
          registry.remove(session);
          return Optional.empty();
        }
        session.requireOurs();
        return Optional.of(giveBackAsked(session, "", consent, talk));
      }
    }
  }

  /**
   * Takes the turn for a command that ends the session. Where the turn is taken, the user agrees
   * first; only then is a push stopped, of a save or of another command.
   *
   * @return empty when there is a request instead that makes the session
   */
  public Optional<TurnQueue.Turn> begin(
      LiveSession session, String what, EndConsent consent, Talk talk) throws InterruptedException {
    Optional<TurnQueue.Turn> free = session.tryBegin(what);
    if (free.isPresent() || session.pending().isPresent()) {
      return free;
    }
    if (session.workIfAny().isPresent() && session.superseded().isEmpty()) {
      consent.ask(session);
    }
    return session.beginEndOrJoin(what, talk);
  }

  /**
   * Gives a session back because the user asked for it, directly or by replacing it. Every command
   * that ends an existing session uses this. The caller has the turn.
   *
   * @param consent asked for what it lacks
   */
  public GivenBack giveBackAsked(LiveSession session, String reason, EndConsent consent, Talk talk)
      throws InterruptedException {
    consent.ask(session);
    return giveBack(session, reason, talk);
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
    List<RunView> running = session.workIfAny().map(SessionWork::running).orElse(List.of());
    List<String> words = session.workIfAny().map(work -> work.words(running)).orElse(List.of());
    try (Talk.Step _ = talk.step("giving " + session.name() + " back")) {
      session
          .changeAnyway(was -> was.in(SessionState.RELEASING, reason))
          .ifPresent(problem -> talk.say("the ledger cannot be written: " + problem.getMessage()));
      changed.run();
      session.stop();
      List<String> kept = releases.releaseAll(session);
      isGone = true;
      words.forEach(run -> talk.say("stopped " + run));
      return new GivenBack(running.stream().map(RunView::number).toList(), kept);
    } catch (GpushException failed) {
      why = why(failed);
      throw failed;
    } catch (InterruptedException stop) {
      why = "interrupted while giving it back";
      throw stop;
    } finally {
      session.close();
      if (isGone) {
        session.changeAnyway(was -> was.in(SessionState.RELEASED, reason));
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
