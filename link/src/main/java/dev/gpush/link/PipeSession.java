package dev.gpush.link;

import dev.gpush.core.backend.Pipe;
import dev.gpush.core.json.Json;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;

/**
 * One pipe of a link: what writes to it, what watches its time, and whether it has ended. The
 * writer may hang in a dead pipe, so it cannot watch itself: two threads.
 */
final class PipeSession {
  private static final System.Logger LOG = System.getLogger("gpush.link");

  /** How long good-bye may take to reach the pipe; an agent that hears none of it loses nothing. */
  private static final long BYE_NANOS = 1_000_000_000L;

  /**
   * How long is read on after a write has failed: the agent's last words, such as BYE released, may
   * still be in the pipe, and closing it at once would turn a release into a cut.
   */
  private static final long LAST_WORDS_NANOS = 2_000_000_000L;

  private final Link link;
  private final Inbox inbox;
  private final Clock clock;
  private final Pipe pipe;
  private final Condition changed;

  // guarded by the link's lock
  private boolean greeting = true;
  private boolean ended;
  private boolean writeFailed;
  private long writeFailedNanos;
  private long pingNanos;
  private String reason = "the pipe ended";

  PipeSession(Link link, Inbox inbox, Clock clock, Pipe pipe) {
    this.link = link;
    this.inbox = inbox;
    this.clock = clock;
    this.pipe = pipe;
    this.changed = link.newCondition();
  }

  Pipe pipe() {
    return pipe;
  }

  /** The lock is held. */
  boolean isGreeting() {
    return greeting;
  }

  /** The agent has said WELCOME: frames of streams may go. The lock is held. */
  void greeted() {
    greeting = false;
    pingNanos = clock.nanos();
    link.work().signal();
  }

  /** Ends the pipe; whoever reads or writes it finds out by itself. The first reason stays. */
  void cut(String why) {
    link.lock();
    try {
      if (!ended) {
        ended = true;
        reason = why;
      }
      link.work().signalAll();
      changed.signalAll();
    } finally {
      link.unlock();
    }
    try {
      pipe.close();
    } catch (IOException late) {
      LOG.log(System.Logger.Level.DEBUG, "closing a pipe failed", late);
    }
  }

  /** Why it ended, if somebody here ended it. */
  String reasonOr(String otherwise) {
    link.lock();
    try {
      return ended ? reason : otherwise;
    } finally {
      link.unlock();
    }
  }

  /** Writes BYE and waits a moment until it is on its way. */
  void sayBye(String code, Json.Obj facts) {
    link.lock();
    try {
      link.outbox()
          .addControl(Frame.ofJson(FrameKind.BYE, 0, 0, Json.object("code", code, "facts", facts)));
      link.work().signal();
      long left = BYE_NANOS;
      while (!ended && !writeFailed && left > 0) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      link.unlock();
    }
  }

  /** The writing thread: until the pipe ends. */
  void write() {
    var frames = new FrameWriter(pipe.input());
    var batch = new ArrayList<Frame>();
    try {
      while (take(batch)) {
        for (Frame frame : batch) {
          frames.write(frame);
        }
        frames.flush();
        if (batch.stream().anyMatch(frame -> frame.kind() == FrameKind.BYE)) {
          cut("we said good-bye");
        }
        batch.clear();
      }
    } catch (IOException broken) {
      stopWriting();
    } catch (InterruptedException stop) {
      cut("stopped");
      Thread.currentThread().interrupt();
    }
  }

  private void stopWriting() {
    link.lock();
    try {
      writeFailed = true;
      writeFailedNanos = clock.nanos();
      changed.signalAll();
    } finally {
      link.unlock();
    }
  }

  /** Waits for something to write; false at the end of the pipe. */
  private boolean take(List<Frame> batch) throws InterruptedException {
    link.lockInterruptibly();
    try {
      while (!ended) {
        long now = clock.nanos();
        if (greeting) {
          link.outbox().takeControl(batch);
        } else {
          takeFrames(batch, now);
        }
        if (!batch.isEmpty()) {
          return true;
        }
        long wait =
            greeting
                ? Limits.HELLO_NANOS
                : Math.max(1, Math.min(untilPing(now), inbox.untilAck(now)));
        inbox.writerWakes(now + wait);
        link.work().awaitNanos(wait);
      }
      return false;
    } finally {
      link.unlock();
    }
  }

  private void takeFrames(List<Frame> batch, long now) {
    if (untilPing(now) <= 0) {
      pingNanos = now;
      batch.add(Frame.ofNumber(FrameKind.PING, 0, now));
    }
    if (inbox.untilAck(now) <= 0) {
      batch.add(inbox.takeAck(now));
    }
    for (LinkStream closed : link.outbox().take(batch)) {
      if (closed.isPeerClosed()) {
        link.forget(closed);
      }
    }
  }

  private long untilPing(long now) {
    return Math.max(inbox.heardNanos(), pingNanos) + Limits.PING_NANOS - now;
  }

  /** The watching thread: ends a pipe on which nothing has come for too long. */
  void watch() {
    try {
      String why = awaitSilence();
      if (!why.isEmpty()) {
        cut(why);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** What was waited for too long; empty when the pipe ended otherwise. */
  private String awaitSilence() throws InterruptedException {
    link.lockInterruptibly();
    try {
      while (!ended) {
        long left = deadline() - clock.nanos();
        if (left <= 0) {
          return writeFailed ? "broken pipe" : greeting ? "no answer to HELLO" : "silence";
        }
        changed.awaitNanos(left);
      }
      return "";
    } finally {
      link.unlock();
    }
  }

  private long deadline() {
    if (writeFailed) {
      return writeFailedNanos + LAST_WORDS_NANOS;
    }
    return inbox.heardNanos() + (greeting ? Limits.HELLO_NANOS : Limits.RENEW_NANOS);
  }
}
