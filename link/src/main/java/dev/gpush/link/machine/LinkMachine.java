package dev.gpush.link.machine;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.AgentCode;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameLimits;
import dev.gpush.link.frame.ProtocolException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The gateway's side of one link with an agent, over one pipe after the other. Pure: it has no
 * thread, no lock and no clock, and never waits (see the package).
 *
 * <p>In go requests of users ({@link #reserve} … {@link #close}), what happens to pipes ({@link
 * #pipeOpened}, {@link #received}, {@link #pipeEnded} …) and the time ({@link #tick}). Out come
 * events ({@link #nextEvent}), commands for pipes ({@link #nextCommand}) and frames ({@link
 * #take}). After each call the driver processes all three, and calls {@link #tick} after {@link
 * #untilTick} at the latest.
 */
public final class LinkMachine {
  /** The code with which streams end when the link does. */
  public static final String LINK_OVER = "link-over";

  /** The code with which streams end when another agent has replaced theirs. */
  public static final String AGENT_RESTARTED = "agent-restarted";

  private final Json.Obj identity;
  private final ArrayDeque<LinkEvent> events = new ArrayDeque<>();
  private final StreamTable streams;
  private final SendQueue queue;
  private final AckSchedule acks;
  private final Contact contact;
  private final FrameIntake intake;
  private final PipeCycle pipes;
  private final FrameOutput output;
  private String agent = "";
  private int protocolErrors;
  private long lastBeforeError = -1;

  /**
   * @param identity the fields of HELLO that stay the same
   * @param random for the pauses between pipes
   * @param pool all receive windows together, and all that is kept for another pipe
   * @param nanos the time
   */
  public LinkMachine(
      Json.Obj identity, LinkWaits waits, RandomGenerator random, long pool, long nanos) {
    this.identity = identity;
    this.streams = new StreamTable(new WindowPool(pool));
    this.queue = new SendQueue(pool);
    this.acks = new AckSchedule(nanos);
    this.contact = new Contact(waits, nanos);
    this.intake = new FrameIntake(streams, queue, acks, events::add);
    this.pipes = new PipeCycle(waits, random, contact, queue, acks, this::emit);
    this.output = new FrameOutput(streams, queue, acks, contact, pipes);
  }

  // ---- what comes out

  public Optional<LinkEvent> nextEvent() {
    return Optional.ofNullable(events.poll());
  }

  public boolean hasEvents() {
    return !events.isEmpty();
  }

  public Optional<PipeCommand> nextCommand() {
    return Optional.ofNullable(pipes.commands().poll());
  }

  public boolean hasCommands() {
    return !pipes.commands().isEmpty();
  }

  /** Whether the link has ended for good. */
  public boolean isOver() {
    return pipes.isOver();
  }

  /** The pipe whose frames count; 0 for none. */
  public int pipeInUse() {
    return pipes.current();
  }

  /** Whether frames of this pipe count, and nothing has ended it yet. */
  public boolean isInUse(int pipe) {
    return pipes.isInUse(pipe);
  }

  /**
   * Whether frames of streams go through this pipe: the agent answered HELLO and neither side sent
   * BYE.
   */
  boolean isWriting(int pipe) {
    return output.isWriting(pipe);
  }

  /** Whether there is a pipe in use that does: {@link dev.gpush.core.machine.Pipe#holdsBack}. */
  public boolean holdsBack() {
    return pipes.current() != PipeCycle.NONE && pipes.holdsBack();
  }

  /** What is waiting or not acknowledged, in bytes of memory. */
  public long keptBytes() {
    return queue.keptBytes();
  }

  public int keptFrames() {
    return queue.keptFrames();
  }

  /** All receive windows together. */
  public long windowBytes() {
    return streams.windowBytes();
  }

  public int openStreams() {
    return streams.size();
  }

  // ---- streams

  public boolean isFull() {
    return streams.isFull();
  }

  /**
   * A number and a receive window for a stream, which {@link #announce} opens.
   *
   * @param window how many bytes may come before any is consumed, if the pool has so many
   */
  public StreamState reserve(long window) {
    return streams.reserve(Math.clamp(window, 1, LinkLimits.MAX_WINDOW));
  }

  /**
   * Opens a reserved stream.
   *
   * @param request what is asked for; the credit is filled in
   * @return 0, or the length of a request that is too long, whose stream is forgotten
   */
  public int announce(StreamState stream, Json.Obj request) {
    Json complete = request.with("credit", stream.credit().granted());
    Frame open = Frame.ofJson(FrameKind.OPEN, 0, stream.number(), complete);
    if (open.length() > FrameLimits.MAX_PAYLOAD) {
      streams.forget(stream);
      return open.length();
    }
    stream.announce();
    if (stream.isOwnClosed()) {
      intake.withdraw(stream);
    } else {
      queue.add(stream, open);
    }
    return 0;
  }

  /** The reserved stream will not be opened. */
  public void forget(StreamState stream) {
    streams.forget(stream);
  }

  /** How many bytes {@link #send} would take. */
  public int room(StreamState stream) {
    if (stream.isOpening() || stream.isClosed()) {
      return 0;
    }
    long room = stream.credit().credit();
    if (queue.isFull()) {
      room = Math.min(room, LinkLimits.SMALL_WINDOW - stream.credit().kept());
    }
    return Math.clamp(room, 0, LinkLimits.MAX_WINDOW);
  }

  /** Whether {@link #send} would take something, or nothing can be sent any more. */
  public boolean isWritable(StreamState stream) {
    return stream.isClosed() || room(stream) > 0;
  }

  /**
   * Takes as many bytes as credit allows, at most one piece, and moves the buffer's position past
   * them. They are not copied.
   */
  public int send(StreamState stream, int channel, ByteBuffer bytes) {
    int count = Math.min(Math.min(bytes.remaining(), room(stream)), FrameLimits.PIECE);
    if (count == 0 || stream.hasEnded(channel)) {
      return 0;
    }
    ByteBuffer piece = bytes.slice(bytes.position(), count);
    bytes.position(bytes.position() + count);
    stream.credit().send(count);
    queue.add(stream, new Frame(FrameKind.DATA, channel, stream.number(), 0, piece));
    return count;
  }

  /** False when so many messages wait that the peer cannot be reading. */
  public boolean message(StreamState stream, Frame message) {
    if (stream.credit().waitingMessages() >= LinkLimits.MAX_WAITING_MESSAGES) {
      return false;
    }
    stream.credit().messageWaits(1);
    queue.add(stream, message);
    return true;
  }

  /** Nothing more is sent on this channel. Idempotent. */
  public void end(StreamState stream, int channel) {
    if (!stream.isOwnClosed() && !stream.hasEnded(channel)) {
      stream.endChannel(channel);
      queue.add(
          stream, new Frame(FrameKind.END, channel, stream.number(), 0, ByteBuffer.allocate(0)));
    }
  }

  /**
   * Ends a stream of ours whose OPEN was not written yet: the peer never hears of it. False, and
   * nothing is done, when the peer may know it, or it is closed.
   */
  public boolean withdraw(StreamState stream) {
    if (stream.isClosed() || stream.isOpenWritten() || stream.isOfAgent()) {
      return false;
    }
    stream.ownCloses();
    if (stream.isAnnounced()) {
      intake.withdraw(stream);
    }
    return true;
  }

  /**
   * Sends nothing more after what was sent already, or withdraws the stream if nothing was. True
   * the first time.
   */
  public boolean close(StreamState stream, Json.Obj reason) {
    if (stream.isOwnClosed()) {
      return false;
    }
    if (withdraw(stream)) {
      return true;
    }
    stream.ownCloses();
    queue.add(stream, Frame.ofJson(FrameKind.CLOSE, 0, stream.number(), reason));
    return true;
  }

  /** The user is done with this many received bytes: the peer may send as many more. */
  public void consumed(StreamState stream, int bytes) {
    if (stream.credit().consume(bytes) && !stream.isClosed()) {
      queue.addCredit(stream);
    }
  }

  /** The answer to {@link LinkEvent.Offered}: it is wanted. */
  public void accept(StreamState stream) {
    if (!stream.isPeerClosed()) {
      intake.accept(stream);
    }
  }

  /** The answer to {@link LinkEvent.Offered}: it is not wanted. */
  public void refuse(StreamState stream, String code) {
    if (streams.find(stream.number()).filter(stream::equals).isPresent()) {
      intake.refuse(stream, code);
    }
  }

  // ---- the link

  /**
   * Opens the first pipe. Ends in {@link LinkEvent.Up}, {@link LinkEvent.NotConnected} or an end.
   */
  public void connect(long nanos) {
    pipes.connect(nanos);
  }

  /** As {@link #connect}, but goes on after {@link LinkEvent.Cut}, as if there had been a pipe. */
  public void keepConnecting(long nanos) {
    pipes.keepConnecting(nanos);
  }

  /** Stops connecting, without an event. */
  public void stopConnecting() {
    pipes.stopConnecting();
  }

  /** The present pipe is closed, if any, and another one is opened without a pause. */
  public void renewPipe(long nanos) {
    pipes.renew(nanos);
  }

  /** The process did not run for a while: the laptop was asleep, for example. */
  public void woke(long nanos) {
    pipes.woke(nanos);
  }

  /** The end, at once: all streams end. */
  public void finish(String reason) {
    pipes.finish(new LinkEvent.Over(reason));
  }

  /** Sends BYE and ends as soon as it was written, or at once when there is no pipe. */
  public void leave(String code, String reason, long nanos) {
    if (isOver() || pipes.isLeaving()) {
      return;
    }
    if (pipes.isInUse(pipes.current())) {
      pipes.leave(bye(code, Json.object()), new LinkEvent.Over(reason), nanos);
    } else {
      finish(reason);
    }
  }

  private static Json.Obj bye(String code, Json facts) {
    return Json.object("code", code, "facts", facts);
  }

  private void emit(LinkEvent.OfLink event) {
    events.add(event);
    switch (event) {
      case LinkEvent.Over(var reason) -> endStreams(reason);
      case LinkEvent.Superseded _, LinkEvent.OtherVersion _ -> endStreams("refused");
      case LinkEvent.Up _, LinkEvent.Cut _, LinkEvent.NotConnected _ -> {}
    }
  }

  private void endStreams(String reason) {
    intake.end(Json.object("code", LINK_OVER, "facts", Json.object("reason", reason)));
  }

  // ---- pipes

  /**
   * A pipe that was commanded is open.
   *
   * @param holdsBack see {@link dev.gpush.core.machine.Pipe#holdsBack}
   */
  public void pipeOpened(int pipe, boolean holdsBack, long nanos) {
    pipes.opened(pipe, holdsBack, hello(nanos), nanos);
  }

  /** A pipe that was commanded could not be opened. */
  public void pipeFailed(int pipe, String reason, long nanos) {
    pipes.openingFailed(pipe, reason, nanos);
  }

  /** Nothing more comes from this pipe, and its number is no longer in use. */
  public void pipeEnded(int pipe, String reason, long nanos) {
    pipes.ended(pipe, reason, hello(nanos), nanos);
  }

  /** Writing to this pipe failed; it may still be read. */
  public void writeFailed(int pipe, long nanos) {
    pipes.writeFailed(pipe, nanos);
  }

  private Json.Obj hello(long nanos) {
    return identity.with("agent", agent).with("last", acks.last()).with("at", nanos);
  }

  /**
   * A frame came through this pipe. A broken rule ends the pipe.
   *
   * @param json the payload of a kind with JSON, else empty
   */
  public void received(int pipe, Frame frame, Json.Obj json, long nanos) {
    if (!pipes.isInUse(pipe) || pipes.isLeaving()) {
      return;
    }
    try {
      switch (frame.kind()) {
        case BYE -> pipes.close(afterBye(json));
        case WELCOME -> {
          contact.heard(frame, nanos);
          welcome(json, nanos);
        }
        case HELLO, ACK, CREDIT, PING, PONG, OPEN, OPENED, REFUSED, DATA, END, MESSAGE, CLOSE -> {
          if (pipes.isGreeting() && frame.kind() != FrameKind.PING) {
            throw new ProtocolException("unexpected", frame.kind() + " before WELCOME");
          }
          contact.heard(frame, nanos);
          pipes.heard();
          intake.accept(frame, json, nanos);
        }
      }
    } catch (ProtocolException broken) {
      broken(pipe, broken, nanos);
    }
  }

  /** The data from this pipe is not a frame. */
  public void broken(int pipe, ProtocolException rule, long nanos) {
    if (pipes.isInUse(pipe) && !pipes.isLeaving()) {
      String detail = String.valueOf(rule.getMessage());
      Json facts = Json.object("rule", rule.rule(), "detail", detail);
      pipes.leave(bye("protocol", facts), protocolError(detail), nanos);
    }
  }

  private void welcome(Json.Obj json, long nanos) throws ProtocolException {
    if (!pipes.isGreeting()) {
      throw new ProtocolException("unexpected", "WELCOME twice");
    }
    String incarnation = json.text("agent").orElse("");
    boolean resumed = json.flag("resumed") && !agent.isEmpty() && agent.equals(incarnation);
    if (resumed) {
      intake.resume(json.number("last").orElse(0L));
    } else {
      intake.restart(Json.object("code", AGENT_RESTARTED, "facts", Json.object()));
    }
    acks.newPipe(pipes.holdsBack() ? LinkLimits.ACK_SOON_NANOS : LinkLimits.ACK_NANOS);
    agent = incarnation;
    pipes.greeted(json, resumed, nanos);
  }

  private LinkEvent.OfLink afterBye(Json.Obj json) {
    String code = json.text("code").orElse("");
    Json.Obj facts = json.object("facts");
    return switch (code) {
      case "term", "superseded" ->
          new LinkEvent.Superseded(
              facts.text("holder").orElse("another gateway"), facts.number("term").orElse(0L));
      case "version" -> new LinkEvent.OtherVersion();
      case "released" -> released(facts.text("why").orElse(""));
      case "protocol" -> protocolError("the agent: " + AgentCode.facts(facts));
      default -> new LinkEvent.Cut(code);
    };
  }

  /** An agent that a signal has ended may be followed by another, and only the backend knows. */
  private static LinkEvent.OfLink released(String why) {
    return why.equals("terminated")
        ? new LinkEvent.Cut("its agent was terminated")
        : new LinkEvent.Over("released");
  }

  private LinkEvent.OfLink protocolError(String detail) {
    protocolErrors = acks.last() == lastBeforeError ? protocolErrors + 1 : 1;
    lastBeforeError = acks.last();
    return protocolErrors >= LinkLimits.MAX_PROTOCOL_ERRORS
        ? new LinkEvent.Over("protocol: " + detail)
        : new LinkEvent.Cut("protocol: " + detail);
  }

  // ---- time

  /** Does what is due. */
  public void tick(long nanos) {
    pipes.tick(nanos);
  }

  /** Nanoseconds until {@link #tick} has something to do; without anything a long time. */
  public long untilTick(long nanos) {
    return pipes.untilTick(nanos);
  }

  // ---- frames to write

  /**
   * Takes what to write next to this pipe, about one piece of bulk; nothing when nothing is due.
   * The call says that what was taken before has been written.
   *
   * @return false when nothing more may be written to this pipe
   */
  public boolean take(int pipe, List<Frame> batch, long nanos) {
    return output.take(pipe, batch, nanos);
  }

  /**
   * Nanoseconds until {@link #take} has something for this pipe, as far as is known: 0 or less for
   * now.
   */
  public long untilWrite(int pipe, long nanos) {
    return output.untilWrite(pipe, nanos);
  }

  /**
   * Whether all that {@link #take} would give for this pipe is at most one small frame of a stream,
   * and control frames of the link: what fits {@link LinkLimits#SMALL_WRITE}.
   */
  public boolean isSmall(int pipe) {
    return output.isSmall(pipe);
  }
}
