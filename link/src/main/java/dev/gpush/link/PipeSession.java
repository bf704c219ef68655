package dev.gpush.link;

import dev.gpush.core.backend.Pipe;
import dev.gpush.core.json.Json;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.function.BooleanSupplier;

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

  /** The reader does not say of every frame that it came; a silent pipe is looked at so often. */
  private static final long WORD_NANOS = 50_000_000L;

  private final Link link;
  private final Inbox inbox;
  private final LinkTiming timing;
  private final Clock clock;
  private final Pipe pipe;
  private final Condition changed;

  // guarded by the link's lock
  private final FrameCodec codec = new FrameCodec();
  private final ByteBuffer little = ByteBuffer.allocate(Limits.SMALL_WRITE);
  private final List<Frame> left = new ArrayList<>();
  private boolean writerWaits;
  private boolean greeting = true;
  private boolean ended;
  private boolean writeFailed;
  private long writeFailedNanos;
  private long greetedNanos;
  private long lastAtGreeting;
  private long acknowledgedAtGreeting;
  private String reason = "the pipe ended";

  /** What a silent pipe does. */
  enum Word {
    /** Nothing. */
    NONE,
    /** It lives after all. */
    ANSWERED,
    /** There is nothing more to wait for. */
    ENDED
  }

  PipeSession(Link link, Inbox inbox, LinkTiming timing, Clock clock, Pipe pipe) {
    this.link = link;
    this.inbox = inbox;
    this.timing = timing;
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
    inbox.acknowledgesWithin(pipe.holdsBack() ? Limits.SOON_NANOS : Limits.ACK_NANOS);
    greetedNanos = clock.nanos();
    lastAtGreeting = inbox.last();
    acknowledgedAtGreeting = link.outbox().acknowledged();
    link.work().signal();
  }

  /**
   * How long it has lived since the agent's answer, if it has carried something either way, or at
   * least has lasted. The lock is held.
   */
  Optional<Long> usefulNanos() {
    long lived = clock.nanos() - greetedNanos;
    boolean wasUseful =
        inbox.last() != lastAtGreeting
            || link.outbox().acknowledged() != acknowledgedAtGreeting
            || lived >= timing.lastPause().toNanos();
    return !greeting && wasUseful ? Optional.of(lived) : Optional.empty();
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
      writeHasFailed();
    } finally {
      link.unlock();
    }
  }

  private void writeHasFailed() {
    if (!writeFailed) {
      writeFailed = true;
      writeFailedNanos = clock.nanos();
      changed.signalAll();
    }
  }

  /** Waits for something to write; false at the end of the pipe. */
  private boolean take(List<Frame> batch) throws InterruptedException {
    link.lockInterruptibly();
    try {
      while (!ended && !writeFailed) {
        long now = clock.nanos();
        if (greeting) {
          link.outbox().takeControl(batch);
        } else if (left.isEmpty()) {
          takeFrames(batch, now);
        } else {
          batch.addAll(left);
          left.clear();
        }
        if (!batch.isEmpty()) {
          return true;
        }
        long wait = greeting ? timing.greeting().toNanos() : Math.max(1, untilSomethingIsDue(now));
        inbox.writerWakes(now + wait);
        writerWaits = true;
        link.work().awaitNanos(wait);
        writerWaits = false;
      }
      return false;
    } finally {
      link.unlock();
    }
  }

  private long untilSomethingIsDue(long now) {
    long word = Math.min(inbox.contact().untilPing(now), inbox.untilAck(now));
    return Math.min(word, link.outbox().untilLater(now));
  }

  /** There is something that can wait for what goes next, though not for ever. */
  void workIsLater() {
    inbox.writerMustWake(clock.nanos() + Limits.LATER_NANOS);
  }

  /**
   * There is something to write. A keystroke, credit and the like are written by who brings them,
   * if the pipe takes them at once: waking the writer takes longer than all else that happens to
   * them here. The lock is held, so the writer, which waits, cannot begin meanwhile.
   */
  void workIsDue() {
    boolean isOurs =
        writerWaits
            && !greeting
            && !ended
            && !writeFailed
            && left.isEmpty()
            && link.outbox().isLittle();
    if (!isOurs || !writeLittle()) {
      link.work().signal();
    }
  }

  /** False when the writer has to go on, or to end. */
  private boolean writeLittle() {
    takeFrames(left, clock.nanos());
    little.clear();
    for (Frame frame : left) {
      codec.encodeHeader(frame, little);
      little.put(frame.payload());
    }
    try {
      if (pipe.offer(little.flip())) {
        left.clear();
        return true;
      }
    } catch (IOException broken) {
      writeHasFailed();
    }
    return false;
  }

  private void takeFrames(List<Frame> batch, long now) {
    if (inbox.contact().untilPing(now) <= 0) {
      inbox.contact().pinged(now);
      batch.add(Frame.ofNumber(FrameKind.PING, 0, now));
    }
    if (inbox.untilAck(now) <= 0) {
      batch.add(inbox.takeAck(now));
    }
    if (!batch.isEmpty() || !link.outbox().isEmpty() || link.outbox().untilLater(now) <= 0) {
      link.outbox().hurry();
    }
    for (LinkStream closed : link.outbox().take(batch)) {
      if (closed.isPeerClosed()) {
        link.forget(closed);
      }
    }
    if (pipe.holdsBack() && !batch.isEmpty() && !isAnsweredByItself(batch)) {
      inbox.contact().pinged(now);
      batch.addFirst(Frame.ofNumber(FrameKind.PING, 0, now));
    }
  }

  /**
   * Whether the agent has something to say to it anyway. An answer lets go what is held back: of a
   * long write all pieces but the first, and after a write that nobody answers the next one.
   */
  private static boolean isAnsweredByItself(List<Frame> batch) {
    int length = 0;
    boolean isAnswered = false;
    for (Frame frame : batch) {
      length += Limits.HEADER_BYTES + frame.length();
      isAnswered |=
          switch (frame.kind()) {
            case OPEN, DATA, MESSAGE, PING -> true;
            case HELLO, WELCOME, ACK, CREDIT, PONG, BYE, OPENED, REFUSED, END, CLOSE -> false;
          };
    }
    return isAnswered && length <= Limits.ONE_PIECE;
  }

  /**
   * For the watching thread: true when nothing was answered for too long, false when the pipe has
   * ended, which it does by itself when it was not greeted or cannot be written.
   */
  boolean awaitSilence() throws InterruptedException {
    var wakes = new WakeWatch(clock);
    String why = "";
    link.lockInterruptibly();
    try {
      while (!ended && why.isEmpty()) {
        if (wakes.hasJumped()) {
          inbox.contact().wakes(clock.nanos());
          link.work().signal();
        }
        long left = deadline() - clock.nanos();
        if (left > 0) {
          changed.awaitNanos(Math.min(left, WakeWatch.LOOK_NANOS));
        } else if (writeFailed || greeting) {
          why = writeFailed ? "broken pipe" : "no answer to HELLO";
        } else {
          return true;
        }
      }
    } finally {
      link.unlock();
    }
    if (!why.isEmpty()) {
      cut(why);
    }
    return false;
  }

  private long deadline() {
    return writeFailed ? writeFailedNanos + LAST_WORDS_NANOS : inbox.contact().deadline(greeting);
  }

  /** For the watching thread of a silent pipe: waits so long for it, or for something else. */
  Word awaitWord(long nanos, BooleanSupplier other) throws InterruptedException {
    link.lockInterruptibly();
    try {
      long answeredNanos = inbox.contact().answeredNanos();
      long left = nanos;
      while (left > 0 && !other.getAsBoolean()) {
        if (ended || writeFailed) {
          return Word.ENDED;
        }
        if (inbox.contact().answeredNanos() != answeredNanos) {
          return Word.ANSWERED;
        }
        long part = Math.min(left, WORD_NANOS);
        left = left - part + changed.awaitNanos(part);
      }
      return Word.NONE;
    } finally {
      link.unlock();
    }
  }

  /** Wakes who waits for the pipe's end. */
  void poke() {
    link.lock();
    try {
      changed.signalAll();
    } finally {
      link.unlock();
    }
  }
}
