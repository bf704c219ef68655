package dev.gpush.link.machine;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;

/**
 * Decides when there is a pipe: opening, greeting, silence, pauses, and the end (the diagram is in
 * docs/technical/link.md). One pipe is in use at a time; while it is silent another is opened
 * beside it, and the old one stays until the new one is open, because opening may fail.
 */
final class PipeCycle {
  /** No pipe. */
  static final int NONE = 0;

  /** The reason shown for a link whose pipe does not answer. */
  private static final String SILENCE = "silence";

  /** How long BYE may take to reach the pipe; an agent that does not receive it loses nothing. */
  private static final long BYE_NANOS = 1_000_000_000L;

  /**
   * How long reading continues after a write has failed: the agent's last frames, such as BYE
   * released, may still be in the pipe, and closing it at once would turn a release into a cut.
   */
  private static final long LAST_FRAMES_NANOS = 2_000_000_000L;

  private final LinkWaits waits;
  private final RandomGenerator random;
  private final Contact contact;
  private final SendQueue queue;
  private final AckSchedule acks;
  private final Consumer<LinkEvent.OfLink> events;
  private final ArrayDeque<PipeCommand> commands = new ArrayDeque<>();

  private int lastPipe = NONE;
  private boolean isConnecting;
  private boolean isFirst = true;
  private boolean isOver;

  // The pipe that is being opened, if any.
  private int opening = NONE;
  private long openingDeadline;

  // The pipe that is open and waits for the one in use to end, if any.
  private int spare = NONE;
  private boolean spareHoldsBack;

  // Between two pipes, or between two attempts to open one beside a silent pipe.
  private boolean isPausing;
  private boolean isRenewing;
  private long pauseDeadline;
  private long pause;

  // The pipe in use, if any.
  private int current = NONE;
  private boolean holdsBack;
  private boolean isGreeting;
  private Json.Obj welcome = Json.object();
  private long greetedNanos;
  private long lastAtGreeting;
  private long acknowledgedAtGreeting;
  private boolean isSilent;
  private long answeredAtSilence;
  private long besidePause;
  private boolean writeFailed;
  private long writeDeadline;
  private Optional<LinkEvent.OfLink> leaving = Optional.empty();
  private boolean byeTaken;
  private long leavingDeadline;
  private Optional<LinkEvent.OfLink> closing = Optional.empty();

  PipeCycle(
      LinkWaits waits,
      RandomGenerator random,
      Contact contact,
      SendQueue queue,
      AckSchedule acks,
      Consumer<LinkEvent.OfLink> events) {
    this.waits = waits;
    this.random = random;
    this.contact = contact;
    this.queue = queue;
    this.acks = acks;
    this.events = events;
    this.pause = waits.firstPause();
  }

  // ---- what it is

  int current() {
    return current;
  }

  boolean isOver() {
    return isOver;
  }

  boolean isGreeting() {
    return isGreeting;
  }

  boolean holdsBack() {
    return holdsBack;
  }

  /** Whether frames of this pipe count, and it may be written. */
  boolean isInUse(int pipe) {
    return pipe == current && current != NONE && closing.isEmpty();
  }

  boolean isWritable(int pipe) {
    return isInUse(pipe) && !writeFailed;
  }

  boolean isLeaving() {
    return leaving.isPresent();
  }

  ArrayDeque<PipeCommand> commands() {
    return commands;
  }

  // ---- what happens to pipes

  void connect(long nanos) {
    isConnecting = true;
    open(nanos);
  }

  /** The same, and what fails is a cut, which another attempt follows. */
  void keepConnecting(long nanos) {
    if (!isOver) {
      open(nanos);
    }
  }

  private void open(long nanos) {
    isPausing = false;
    isRenewing = false;
    opening = ++lastPipe;
    openingDeadline = nanos + (isConnecting && isFirst ? waits.firstOpening() : waits.opening());
    commands.add(new PipeCommand.Open(opening));
  }

  /** The caller does not wait for the first pipe any longer. */
  void stopConnecting() {
    if (isConnecting) {
      isConnecting = false;
      closeAll();
    }
  }

  void opened(int pipe, boolean holds, Json.Obj hello, long nanos) {
    if (pipe != opening) {
      commands.add(new PipeCommand.Close(pipe));
      return;
    }
    opening = NONE;
    if (current == NONE) {
      begin(pipe, holds, hello, nanos);
      return;
    }
    spare = pipe;
    spareHoldsBack = holds;
    close(new LinkEvent.Cut(SILENCE));
  }

  private void begin(int pipe, boolean holds, Json.Obj hello, long nanos) {
    current = pipe;
    holdsBack = holds;
    isGreeting = true;
    isSilent = false;
    writeFailed = false;
    byeTaken = false;
    leaving = Optional.empty();
    closing = Optional.empty();
    contact.begin(nanos);
    queue.newPipe();
    queue.addControl(Frame.ofJson(FrameKind.HELLO, 0, 0, hello));
  }

  void openingFailed(int pipe, String reason, long nanos) {
    if (pipe != opening) {
      return;
    }
    opening = NONE;
    if (current == NONE) {
      between(new LinkEvent.Cut(reason), Optional.empty(), nanos);
      return;
    }
    if (isSilent) {
      events.accept(new LinkEvent.Cut(reason));
    }
    pauseBeside(nanos);
  }

  private void pauseBeside(long nanos) {
    isPausing = true;
    pauseDeadline = nanos + jittered(besidePause);
    besidePause = longer(besidePause);
  }

  /** The pipe in use has ended, by itself or because it was closed. */
  void ended(int pipe, String reason, Json.Obj hello, long nanos) {
    if (pipe != current || current == NONE) {
      return;
    }
    var end = closing.or(() -> leaving).orElseGet(() -> new LinkEvent.Cut(reason));
    var useful = usefulNanos(nanos);
    current = NONE;
    isGreeting = false;
    isSilent = false;
    isPausing = false;
    if (spare == NONE || isFinal(end)) {
      between(end, useful, nanos);
      return;
    }
    int next = spare;
    spare = NONE;
    events.accept(end);
    begin(next, spareHoldsBack, hello, nanos);
  }

  /** There is no pipe in use. */
  private void between(LinkEvent.OfLink end, Optional<Long> useful, long nanos) {
    if (isFinal(end)) {
      finish(end);
      return;
    }
    String reason = end instanceof LinkEvent.Cut(var why) ? why : "";
    if (isConnecting) {
      isConnecting = false;
      events.accept(new LinkEvent.NotConnected(reason));
      return;
    }
    events.accept(end);
    if (opening == NONE) {
      isPausing = true;
      long length = nextPause(useful);
      pauseDeadline = isRenewing ? nanos : nanos + length;
    }
  }

  /**
   * How long the pipe has lived since the agent's answer, if it has carried something either way,
   * or at least has lasted. Then the pauses start from the first again, and its lifetime counts as
   * waiting time. A greeting alone is not enough, or an agent that ends every pipe at once would be
   * contacted five times a second.
   */
  private Optional<Long> usefulNanos(long nanos) {
    long lived = nanos - greetedNanos;
    boolean wasUseful =
        acks.last() != lastAtGreeting
            || queue.acknowledged() != acknowledgedAtGreeting
            || lived >= waits.lastPause();
    return !isGreeting && wasUseful ? Optional.of(lived) : Optional.empty();
  }

  private long nextPause(Optional<Long> useful) {
    pause = useful.isPresent() ? waits.firstPause() : longer(pause);
    return jittered(pause) - useful.orElse(0L);
  }

  private long longer(long length) {
    return Math.min(2 * length, waits.lastPause());
  }

  /** So that a thousand links do not reconnect at the same moment. */
  private long jittered(long length) {
    return (long) (length * (0.5 + random.nextDouble() / 2));
  }

  private static boolean isFinal(LinkEvent.OfLink end) {
    return switch (end) {
      case LinkEvent.Up _, LinkEvent.Cut _, LinkEvent.NotConnected _ -> false;
      case LinkEvent.Over _, LinkEvent.Superseded _, LinkEvent.OtherVersion _ -> true;
    };
  }

  // ---- what is heard

  /** The agent has sent WELCOME, and the streams were told. */
  void greeted(Json.Obj said, boolean resumed, long nanos) {
    isGreeting = false;
    isConnecting = false;
    isFirst = false;
    welcome = said;
    greetedNanos = nanos;
    lastAtGreeting = acks.last();
    acknowledgedAtGreeting = queue.acknowledged();
    events.accept(new LinkEvent.Up(said, resumed));
  }

  /** A frame came through the pipe in use. */
  void heard() {
    if (isSilent && contact.answeredNanos() != answeredAtSilence) {
      isSilent = false;
      isPausing = false;
      closeOpening();
      events.accept(new LinkEvent.Up(welcome, true));
    }
  }

  void writeFailed(int pipe, long nanos) {
    if (!isWritable(pipe)) {
      return;
    }
    if (isLeaving()) {
      close(leaving.orElseThrow());
      return;
    }
    writeFailed = true;
    writeDeadline = nanos + LAST_FRAMES_NANOS;
  }

  // ---- how it ends

  /** Sends BYE, then ends the pipe with this event. */
  void leave(Json.Obj bye, LinkEvent.OfLink end, long nanos) {
    queue.addControl(Frame.ofJson(FrameKind.BYE, 0, 0, bye));
    leaving = Optional.of(end);
    leavingDeadline = nanos + BYE_NANOS;
    isPausing = false;
    closeOpening();
    if (writeFailed) {
      close(end);
    }
  }

  /** Takes what may be written while the agent has not greeted or is being left. */
  void takeControl(List<Frame> batch) {
    if (byeTaken) {
      // The writer asks again, so the last batch has been written.
      leaving.ifPresent(this::close);
      return;
    }
    queue.takeControl(batch);
    byeTaken = isLeaving();
  }

  /** Closes the pipe in use; the event follows when it has ended. */
  void close(LinkEvent.OfLink end) {
    if (isFinal(end)) {
      finish(end);
    } else if (closing.isEmpty()) {
      closing = Optional.of(end);
      isPausing = false;
      commands.add(new PipeCommand.Close(current));
    }
  }

  private void closeOpening() {
    if (opening != NONE) {
      commands.add(new PipeCommand.Close(opening));
      opening = NONE;
    }
  }

  private void closeAll() {
    closeOpening();
    for (int pipe : List.of(spare, current)) {
      if (pipe != NONE) {
        commands.add(new PipeCommand.Close(pipe));
      }
    }
    spare = NONE;
    current = NONE;
    isPausing = false;
    isGreeting = false;
  }

  /** The end, once. */
  void finish(LinkEvent.OfLink end) {
    if (!isOver) {
      isOver = true;
      isConnecting = false;
      closeAll();
      events.accept(end);
    }
  }

  /** A new pipe is wanted at once. */
  void renew(long nanos) {
    if (isOver) {
      return;
    }
    if (current != NONE) {
      closeOpening();
      if (!isLeaving()) {
        isRenewing = true;
        close(new LinkEvent.Cut("a new pipe is wanted"));
      }
    } else if (opening != NONE) {
      closeOpening();
      if (isConnecting) {
        between(new LinkEvent.Cut("no pipe in time"), Optional.empty(), nanos);
      } else {
        open(nanos);
      }
    } else if (isPausing) {
      pauseDeadline = nanos;
    }
  }

  /** The process did not run for a while. */
  void woke(long nanos) {
    if (current == NONE) {
      renew(nanos);
    } else if (!isSilent) {
      contact.wakes(nanos);
    }
  }

  // ---- time

  void tick(long nanos) {
    if (current != NONE && closing.isEmpty()) {
      lookAtPipe(nanos);
    }
    if (isPausing && nanos - pauseDeadline >= 0) {
      open(nanos);
    }
    if (opening != NONE && nanos - openingDeadline >= 0) {
      closeOpening();
      if (current == NONE) {
        between(new LinkEvent.Cut("no pipe in time"), Optional.empty(), nanos);
      } else {
        pauseBeside(nanos);
      }
    }
  }

  private void lookAtPipe(long nanos) {
    if (isLeaving()) {
      if (nanos - leavingDeadline >= 0) {
        close(leaving.orElseThrow());
      }
    } else if (writeFailed) {
      if (nanos - writeDeadline >= 0) {
        close(new LinkEvent.Cut("broken pipe"));
      }
    } else if (!isSilent && nanos - contact.deadline(isGreeting) >= 0) {
      if (isGreeting) {
        close(new LinkEvent.Cut("no answer to HELLO"));
      } else {
        isSilent = true;
        answeredAtSilence = contact.answeredNanos();
        besidePause = waits.firstPause();
        events.accept(new LinkEvent.Cut(SILENCE));
        open(nanos);
      }
    }
  }

  /** Nanoseconds until {@link #tick} has something to do; without anything a long time. */
  long untilTick(long nanos) {
    long until = Long.MAX_VALUE;
    if (current != NONE && closing.isEmpty()) {
      if (isLeaving()) {
        until = leavingDeadline - nanos;
      } else if (writeFailed) {
        until = writeDeadline - nanos;
      } else if (!isSilent) {
        until = contact.deadline(isGreeting) - nanos;
      }
    }
    if (isPausing) {
      until = Math.min(until, pauseDeadline - nanos);
    }
    return opening == NONE ? until : Math.min(until, openingDeadline - nanos);
  }
}
