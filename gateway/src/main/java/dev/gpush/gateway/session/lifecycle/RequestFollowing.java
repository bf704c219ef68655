package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions.EndedRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.PendingRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Lets a command follow a request of the gateway, and decides what the end of the command means for
 * the request.
 */
public final class RequestFollowing {
  private final Clock clock;

  public RequestFollowing(Clock clock) {
    this.clock = clock;
  }

  /**
   * Shows the progress of the request until it ends or the command may stop waiting.
   *
   * @param isOwn whether Ctrl-C cancels the request; otherwise it only ends the command
   * @param isEnough when the command need not wait any longer
   * @return whether the session is ready
   */
  public boolean follow(
      LiveSession session,
      PendingRequest pending,
      boolean isOwn,
      Talk talk,
      Predicate<LiveSession> isEnough)
      throws InterruptedException {
    try {
      return pending.follow(talk, () -> isEnough.test(session));
    } catch (InterruptedException stop) {
      if (!talk.isCancelled()) {
        throw stop;
      }
      if (!isOwn || pending.talk().isFollowed()) {
        talk.say(
            session.name() + " keeps waiting; gpush down -s " + session.name() + " cancels it");
        throw stop;
      }
      boolean hasWaited = session.isWaiting();
      giveUp(session, pending, talk);
      if (!pending.isReady()) {
        requireReleased(session);
        if (session.entry().state() == SessionState.READY) {
          talk.say(
              session.name()
                  + " was ready and keeps its nodes, without its whole environment; gpush up"
                  + " continues, gpush down -s "
                  + session.name()
                  + " gives them back");
        } else if (session.isOver() && hasWaited) {
          talk.say(session.name() + ": the request was cancelled");
        }
        throw stop;
      }
      // It became ready at the same moment.
      return true;
    }
  }

  /**
   * Cancels it; on return nothing is requested any longer, and granted nodes are given back, but
   * for those of a session that was ready: other users may be on it.
   */
  public static void giveUp(LiveSession session, PendingRequest pending, Talk talk) {
    try (Talk.Step _ = talk.step("giving " + session.name() + " up")) {
      pending.cancel();
      pending.awaitEnd();
    }
  }

  /**
   * The same of the request that makes the session; false: there is none. Fails if its release
   * could not be confirmed.
   */
  public static boolean giveUp(LiveSession session, Talk talk) {
    Optional<PendingRequest> pending = session.pending();
    if (pending.isPresent()) {
      giveUp(session, pending.get(), talk);
      requireReleased(session);
    }
    return pending.isPresent();
  }

  private static void requireReleased(LiveSession session) {
    if (session.entry().state() == SessionState.LEAKED) {
      session.requireUsable();
    }
  }

  public void sayWaited(LiveSession session, Talk talk) {
    Duration since = Duration.between(session.entry().created(), clock.now());
    talk.say(session.name() + " has waited for " + DurationText.coarse(since));
  }

  public void sayEnded(EndedRequest ended, Talk talk) {
    Duration since = Duration.between(ended.asked(), clock.now());
    talk.say(
        ended.session()
            + ", requested "
            + DurationText.coarse(since)
            + " ago, failed: "
            + ended.why());
  }
}
