package dev.gpush.link;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.machine.LinkLimits;
import dev.gpush.link.machine.LinkMachine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/**
 * The connection to the agent of one node, over one pipe after the other. Thread-safe.
 *
 * <p>{@link #connect} makes the first pipe; from then on the link keeps itself connected: when a
 * pipe ends, streams wait and a new pipe is tried until {@link #close}, until {@link #gone}, or
 * until the agent reports that it is released or held by another gateway. No byte of a stream is
 * lost or doubled. Streams end only when another agent has replaced the former one.
 *
 * <p>Inside: {@link LinkMachine} is the protocol, {@link LinkDriver} its lock, threads and pipes.
 * Users' code is never called with the lock held.
 */
public final class Link implements AutoCloseable {
  private final LinkIdentity identity;
  private final LinkDriver driver;
  private final ReentrantLock lock;

  // guarded by lock
  private final LinkMachine machine;

  /**
   * @param tasks the link's threads are a group in it and end with {@link #close}
   * @param random for the pauses between pipes, so that a thousand links do not reconnect at the
   *     same moment
   * @param listener called for each change of the state, in order, on a thread of the link; must
   *     not block
   */
  public Link(
      LinkIdentity identity,
      PipeSource pipes,
      Tasks tasks,
      Clock clock,
      RandomGenerator random,
      LinkTiming timing,
      Consumer<LinkState> listener) {
    this.identity = identity;
    this.machine =
        new LinkMachine(
            identity.hello(), timing.waits(), random, LinkLimits.POOL_BYTES, clock.nanos());
    Tasks threads = tasks.group("link-" + identity.node());
    this.driver = new LinkDriver(identity, pipes, threads, clock, machine, listener);
    this.lock = driver.lock();
  }

  /**
   * Opens the first pipe and blocks until the agent has sent WELCOME, and returns that. May be
   * called again after it failed.
   *
   * @throws GpushException what {@link PipeSource} threw, or that the agent refused
   * @throws IOException the pipe could not be opened or ended too early
   */
  public Json.Obj connect() throws IOException, InterruptedException {
    try {
      return driver.connect();
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
   * After {@link #connect} has failed: goes on as if a pipe had been cut, without a caller that
   * waits. Streams wait too.
   */
  public void keepConnecting() {
    driver.keepConnecting();
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
      if (machine.isFull()) {
        throw refused(request, Json.object("streams", machine.openStreams()));
      }
      long window = request.number("credit").orElse((long) LinkLimits.DEFAULT_WINDOW);
      return new LinkStream(driver, machine.reserve(window));
    } finally {
      lock.unlock();
    }
  }

  private void announce(LinkStream stream, Json.Obj request, StreamReceiver receiver) {
    lock.lock();
    try {
      if (machine.isOver()) {
        machine.forget(stream.state());
      }
      requireNotOver();
      int tooLong = machine.announce(stream.state(), request);
      if (tooLong > 0) {
        throw refused(request, Json.object("bytes", tooLong));
      }
      stream.receiver(receiver);
      driver.add(stream);
      driver.settle();
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

  /** Opens a stream, drops its channel 1, and waits until the agent has accepted it. */
  public BlockingStream openReady(Json.Obj request) throws InterruptedException {
    BlockingStream stream = open(request);
    try {
      stream.awaitOpened();
      stream.discard(1);
      return stream;
    } catch (InterruptedException | RuntimeException failed) {
      stream.close();
      throw failed;
    }
  }

  /**
   * The request for a program that is part of the agent: without input, and over with its stream.
   */
  public static Json.Obj builtin(String name) {
    return Json.object("type", "exec", "builtin", name, "stdin", false, "kill_on_close", true);
  }

  /**
   * Asks the agent and waits for its answer, also while the link is cut.
   *
   * @return what the agent returned as {@code result}
   * @throws GpushException with {@link AgentFailure.Refused} (code and facts), or {@link
   *     AgentFailure.LinkOver}
   */
  public Json call(String method, Json.Obj params) throws InterruptedException {
    var call = open(Json.object("type", "call", "method", method, "params", params));
    try {
      call.awaitOpened();
      Optional<Json.Obj> answer = call.awaitMessage();
      if (answer.isPresent()) {
        // The stream ends by itself; closing it first would need an extra write.
        call.awaitClose();
        return result(answer.orElseThrow());
      }
      throw call.failure(call.awaitClose());
    } finally {
      call.close();
    }
  }

  /**
   * As {@link #call}, without waiting: for one question to many nodes. Cancelling the answer closes
   * the stream; the agent may still have carried out the request.
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

  /** Puts the answer to a call into a future. */
  private record CallReceiver(int node, String what, CompletableFuture<Json> answer)
      implements StreamReceiver {
    @Override
    public void data(int channel, ByteBuffer bytes) {
      // Calls have no data; the agent can send no more than the credit.
    }

    @Override
    public void message(Json.Obj message) {
      answer.complete(result(message));
    }

    @Override
    public void closed(Json.Obj reason) {
      answer.completeExceptionally(BlockingStream.failure(node, what, reason));
    }
  }

  private static Json result(Json.Obj message) {
    return message.entries().getOrDefault("result", new Json.Null());
  }

  /** The number of the node in its gang. */
  public int node() {
    return identity.node();
  }

  public LinkState state() {
    lock.lock();
    try {
      return driver.state();
    } finally {
      lock.unlock();
    }
  }

  /** Whether the present pipe does: {@link dev.gpush.core.machine.Pipe#holdsBack}. */
  public boolean holdsBack() {
    lock.lock();
    try {
      return machine.holdsBack();
    } finally {
      lock.unlock();
    }
  }

  /** Whether the present pipe is: {@link Pipe#isHere}. */
  public boolean isHere() {
    lock.lock();
    try {
      return driver.pipe(machine.pipeInUse()).filter(Pipe::isHere).isPresent();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives up the present pipe, if any, and tries a new one at once: after the laptop was asleep,
   * for example.
   */
  public void renewPipe() {
    driver.act(machine::renewPipe);
  }

  /** The backend says that the node is gone: all streams end, and no new pipe is tried. */
  public void gone(String reason) {
    driver.act(_ -> machine.finish(reason));
  }

  /** Sends BYE, ends all streams on this side and all threads. The agent and its runs stay. */
  @Override
  public void close() {
    driver.close();
  }

  private void requireNotOver() {
    driver
        .state()
        .failure(identity.node())
        .ifPresent(
            over -> {
              throw over;
            });
  }

  private static String what(Json request) {
    String type = request.text("type").orElse("stream");
    return request.text("method").map(method -> type + " " + method).orElse(type);
  }
}
