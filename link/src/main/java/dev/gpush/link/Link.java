package dev.gpush.link;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * The conversation with the agent of one node, over one pipe after the other. Thread-safe.
 *
 * <p>{@link #connect} makes the first pipe; from then on the link keeps itself connected: when a
 * pipe ends, streams wait and a new pipe is tried until {@link #close}, until {@link #gone}, or
 * until the agent says that it is released or taken. No byte of a stream is lost or doubled by
 * that. Only when the agent itself is another one than before do streams end.
 *
 * <p>Inside: one lock for the link and all its streams, because a frame always touches both. {@link
 * Connector} has the threads, {@link Inbox} takes frames apart, {@link Outbox} decides what goes
 * next. Users' code is never called with the lock held.
 */
public final class Link implements AutoCloseable {
  private final LinkIdentity identity;
  private final Tasks tasks;
  private final Clock clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Connector connector;

  // guarded by lock: all that follows, and all fields of Inbox, Outbox, Flow and of the streams
  private final Map<Integer, LinkStream> streams = new TreeMap<>();
  private final WindowPool pool = new WindowPool();
  private final Outbox outbox = new Outbox();
  private final Condition work = lock.newCondition();
  private int nextNumber = 1;

  /**
   * @param tasks the link's threads are a group in it and end with {@link #close}
   * @param random for the pauses between pipes, so that a thousand links do not come back in the
   *     same moment
   */
  public Link(
      LinkIdentity identity,
      PipeSource pipes,
      Tasks tasks,
      Clock clock,
      RandomGenerator random,
      LinkListener listener) {
    this(identity, pipes, tasks, clock, random, LinkTiming.usual(), listener);
  }

  /** With other waits than the usual. */
  public Link(
      LinkIdentity identity,
      PipeSource pipes,
      Tasks tasks,
      Clock clock,
      RandomGenerator random,
      LinkTiming timing,
      LinkListener listener) {
    this.identity = identity;
    this.clock = clock;
    this.tasks = tasks.group("link-" + identity.node());
    this.connector =
        new Connector(this, identity, pipes, this.tasks, clock, random, timing, listener);
  }

  /**
   * Opens the first pipe and blocks until the agent has said WELCOME; its answer comes back. May be
   * called again after it failed.
   *
   * @throws GpushException what {@link PipeSource} threw, or that the agent refused
   * @throws IOException the pipe could not be opened or ended too early
   */
  public Json.Obj connect() throws IOException, InterruptedException {
    var answer = new CompletableFuture<Json.Obj>();
    Task<Boolean, RuntimeException> running =
        tasks.forkOnThread("read", () -> connector.run(answer));
    if (running.isDone()) {
      // Either it ran and has given its answer, or the link is closed and it never will.
      answer.completeExceptionally(new IOException("closed"));
    }
    try {
      return answer.get();
    } catch (InterruptedException stop) {
      running.cancel();
      connector.renewPipe();
      throw stop;
    } catch (ExecutionException failed) {
      switch (failed.getCause()) {
        case IOException broken -> throw broken;
        case InterruptedException stop -> throw stop;
        case RuntimeException other -> throw other;
        case Error other -> throw other;
        case null, default -> throw new IllegalStateException(failed);
      }
    }
  }

  /**
   * Opens a stream (docs/technical/link.md section 3). Does not wait for the agent: the answer
   * comes to the receiver. Works while the link is cut, too; the stream then opens when it is up
   * again.
   *
   * @param request {@code {"type": …}}; {@code credit}, the first receive window, is filled in when
   *     absent
   * @param receiver makes the stream's receiver; called once, before this returns
   * @throws GpushException when the link is over or has too many streams
   */
  public LinkStream open(
      Json.Obj request, Function<LinkStream, ? extends StreamReceiver> receiver) {
    LinkStream stream = reserve(request);
    announce(stream, request, receiver.apply(stream));
    return stream;
  }

  private LinkStream reserve(Json.Obj request) {
    lock.lock();
    try {
      requireNotOver();
      if (isFull()) {
        throw refused(request, Json.object("streams", streams.size()));
      }
      var stream = new LinkStream(this, freeNumber(), new Flow(pool, pool.first(window(request))));
      streams.put(stream.number(), stream);
      return stream;
    } finally {
      lock.unlock();
    }
  }

  private void announce(LinkStream stream, Json.Obj request, StreamReceiver receiver) {
    Json.Obj complete = request.with("credit", stream.flow().granted());
    Frame open = Frame.ofJson(FrameKind.OPEN, 0, stream.number(), complete);
    boolean fits = open.length() <= Limits.MAX_PAYLOAD;
    lock.lock();
    try {
      if (!fits || connector.state().isFinal()) {
        forget(stream);
      }
      requireNotOver();
      if (!fits) {
        throw refused(request, Json.object("bytes", open.length()));
      }
      stream.receiver(receiver);
      enqueue(stream, open);
    } finally {
      lock.unlock();
    }
  }

  private static GpushException refused(Json request, Json facts) {
    return new GpushException(new AgentFailure.Refused(what(request), "limit", facts));
  }

  /** Opens a stream for blocking code. */
  public BlockingStream open(Json.Obj request) {
    var blocking = new BlockingStream(identity.node(), what(request));
    open(request, blocking::receiver);
    return blocking;
  }

  /**
   * Asks the agent and waits for its answer, through a cut link if need be.
   *
   * @return what the agent gave as {@code result}
   * @throws GpushException with {@link AgentFailure.Refused} (code and facts), or {@link
   *     AgentFailure.LinkOver}
   */
  public Json call(String method, Json.Obj params) throws InterruptedException {
    var call = open(Json.object("type", "call", "method", method, "params", params));
    try {
      call.awaitOpened();
      Optional<Json.Obj> answer = call.awaitMessage();
      if (answer.isPresent()) {
        // It ends by itself: our CLOSE before its would be a write of its own.
        call.awaitClose();
        return answer.orElseThrow().entries().getOrDefault("result", new Json.Null());
      }
      throw call.failure(call.awaitClose());
    } finally {
      call.close();
    }
  }

  /**
   * As {@link #call}, without waiting: for one question to many nodes. Cancelling the answer closes
   * the stream; the agent may have done what it was asked all the same.
   *
   * @throws GpushException when the link is over or has too many streams
   */
  public CompletableFuture<Json> ask(String method, Json.Obj params) {
    var request = Json.object("type", "call", "method", method, "params", params);
    var answer = new CompletableFuture<Json>();
    LinkStream stream =
        open(request, _ -> new CallReceiver(identity.node(), what(request), answer));
    var _ =
        answer.whenComplete(
            (_, _) -> {
              if (answer.isCancelled()) {
                stream.close(Json.object());
              }
            });
    return answer;
  }

  /** The number of the node in its gang. */
  public int node() {
    return identity.node();
  }

  public LinkState state() {
    lock.lock();
    try {
      return connector.state();
    } finally {
      lock.unlock();
    }
  }

  /** Whether the pipe that is there now does: {@link dev.gpush.core.backend.Pipe#holdsBack}. */
  public boolean holdsBack() {
    lock.lock();
    try {
      return connector.current().map(session -> session.pipe().holdsBack()).orElse(false);
    } finally {
      lock.unlock();
    }
  }

  /**
   * How long nothing has come from the agent; over 15 s its state is unknown to people, whatever
   * {@link #state} says.
   */
  public Duration silence() {
    return connector.silence();
  }

  /**
   * Gives up the present pipe, if any, and tries a new one at once: after the laptop was asleep,
   * for example.
   */
  public void renewPipe() {
    connector.renewPipe();
  }

  /** The backend says that the node is gone: all streams end, and no pipe is tried any more. */
  public void gone(String reason) {
    connector.end(reason);
  }

  /**
   * Says good-bye, ends all streams on this side and all threads. The agent and what it runs stay.
   */
  @Override
  public void close() {
    connector.sayBye();
    connector.end("closed");
    tasks.close();
    connector.finish(new LinkState.Over("closed"));
  }

  private void requireNotOver() {
    switch (connector.state()) {
      case LinkState.Idle _, LinkState.Up _, LinkState.Cut _ -> {}
      case LinkState.Over(var reason) ->
          throw new GpushException(new AgentFailure.LinkOver(identity.node(), reason));
      case LinkState.Refused(var failure) -> throw new GpushException(failure);
    }
  }

  private static int window(Json request) {
    long wanted = request.number("credit").orElse((long) Limits.DEFAULT_WINDOW);
    return Math.clamp(wanted, 1, Limits.MAX_WINDOW);
  }

  private static String what(Json request) {
    String type = request.text("type").orElse("stream");
    return request.text("method").map(method -> type + " " + method).orElse(type);
  }

  private int freeNumber() {
    int number = nextNumber;
    while (streams.containsKey(number)) {
      number = after(number);
    }
    nextNumber = after(number);
    return number;
  }

  /** Odd numbers, again from 1 after the last: 4,096 streams leave a free one. */
  private static int after(int number) {
    return number >= Integer.MAX_VALUE - 1 ? 1 : number + 2;
  }

  // ---- for the classes of the link; the lock is held unless said otherwise

  /** Takes the lock. */
  void lock() {
    lock.lock();
  }

  /** Takes the lock. */
  void lockInterruptibly() throws InterruptedException {
    lock.lockInterruptibly();
  }

  void unlock() {
    lock.unlock();
  }

  Condition newCondition() {
    return lock.newCondition();
  }

  /** Something is to be written, now or by the writer. */
  void workIsDue() {
    connector.current().ifPresent(PipeSession::workIsDue);
  }

  /** What the writer waits for. */
  Condition work() {
    return work;
  }

  Outbox outbox() {
    return outbox;
  }

  Optional<LinkStream> stream(int number) {
    return Optional.ofNullable(streams.get(number));
  }

  List<LinkStream> streams() {
    return new ArrayList<>(streams.values());
  }

  /** Whether a stream of this number can have been opened by us. */
  boolean wasOpened(int number) {
    return number % 2 == 1 && number < nextNumber;
  }

  /** A stream that the agent opens. */
  LinkStream openedByAgent(int number, Json request) {
    var stream = new LinkStream(this, number, new Flow(pool, pool.first(Limits.DEFAULT_WINDOW)));
    stream.flow().allow(request.number("credit").orElse(0L));
    streams.put(number, stream);
    return stream;
  }

  boolean isFull() {
    return streams.size() >= Limits.MAX_STREAMS;
  }

  /** How many bytes of this stream may be added to what we keep. */
  int room(LinkStream stream) {
    long room = stream.flow().credit();
    if (outbox.isFull()) {
      room = Math.min(room, Limits.SMALL_WINDOW - stream.flow().kept());
    }
    return Math.clamp(room, 0, Limits.MAX_WINDOW);
  }

  void enqueue(LinkStream stream, Frame frame) {
    outbox.add(stream, frame);
    connector.current().ifPresent(PipeSession::workIsDue);
  }

  /** The same for a CLOSE that answers the agent's, which may travel with what goes next. */
  void enqueueLater(LinkStream stream, Frame close) {
    if (outbox.addLater(stream, close, clock.nanos())) {
      connector.current().ifPresent(PipeSession::workIsLater);
    } else {
      enqueue(stream, close);
    }
  }

  void creditIsDue(LinkStream stream) {
    outbox.addCredit(stream);
    connector.current().ifPresent(PipeSession::workIsDue);
  }

  /** Both sides are done with it, or the peer never was: the number is free. */
  void forget(LinkStream stream) {
    if (streams.remove(stream.number(), stream)) {
      stream.flow().end();
    }
  }
}
