package dev.gpush.control.server;

import dev.gpush.control.wire.ControlFrame;
import dev.gpush.control.wire.ControlFrameReader;
import dev.gpush.control.wire.ControlFrameWriter;
import dev.gpush.control.wire.ControlProtocolException;
import dev.gpush.control.wire.Facts;
import dev.gpush.control.wire.Fields;
import dev.gpush.control.wire.Greeting;
import dev.gpush.control.wire.Kind;
import dev.gpush.control.wire.Payload;
import dev.gpush.control.wire.Refusal;
import dev.gpush.control.wire.Request;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.CleanText;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * One client: greets, reads its request, has it handled and reports the end. Runs on the thread
 * that reads from the client.
 */
final class Connection {
  private static final int INTERRUPTED = ExitStatus.INTERRUPTED.number();

  /** For a command that the gateway's end interrupts, and no signal of its user. */
  private static final ControlFrame STOPPED =
      new Refusal(
              "the gateway has stopped",
              "it was asked to; sessions and runs continue",
              "gpush ps, which starts it again")
          .frame();

  private static final List<String> SIGNAL_NAMES = List.of("INT", "TERM", "HUP", "TSTP");

  /** Signals that wait for a slow listener; more would only repeat them. */
  private static final int SIGNALS = 16;

  private final SocketChannel channel;
  private final ControlServer server;
  private final Tasks tasks;
  private final ControlFrameReader reader;
  private final ControlFrameWriter writer;
  private final Outbox outbox;
  private final Worker worker = new Worker();
  private final Semaphore signals = new Semaphore(SIGNALS);
  private final long born = System.nanoTime();
  private volatile boolean asked;
  private volatile Optional<ClientInvocation> carried = Optional.empty();

  Connection(SocketChannel channel, ControlServer server, Tasks tasks) {
    this.channel = channel;
    this.server = server;
    this.tasks = tasks;
    this.reader = new ControlFrameReader(channel);
    this.writer = new ControlFrameWriter(channel);
    this.outbox = new Outbox(writer);
  }

  /** How long it has been connected without a request; nothing after the request. */
  long silentNanos() {
    return asked ? 0 : System.nanoTime() - born;
  }

  /** Whether its request has nothing to finish. */
  boolean isWatching() {
    return carried.map(ClientInvocation::isWatching).orElse(false);
  }

  /** Whether another build has to wait for it. A client that knows its status may not have left. */
  boolean isUsing() {
    return !isWatching() && !outbox.isOver();
  }

  /** The gateway ends: stops the handler. */
  void end() {
    worker.interrupt();
  }

  void close() {
    try {
      channel.close();
    } catch (IOException closedAnyway) {
      // The connection is not used again either.
    }
  }

  /** Everything, until the client is gone. */
  void serve() {
    try (channel) {
      converse();
    } catch (IOException cut) {
      // The client is gone; its handler was interrupted.
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void converse() throws IOException, InterruptedException {
    try {
      // Its greeting is read in any case: a socket that is closed over unread bytes takes ours with
      // it.
      Optional<Refusal> full = server.isFull();
      if (full.isPresent()) {
        reader.next();
        writer.write(full.get().frame());
        return;
      }
      writer.write(server.greeting().frame());
      Optional<ControlFrame> hello = reader.next();
      if (hello.isEmpty()) {
        return;
      }
      Greeting.of(hello.get());
      Optional<ControlFrame> first = reader.next();
      while (first.isPresent() && first.get().kind() == Kind.HANDOVER) {
        if (handOver(first.get())) {
          return;
        }
        first = reader.next();
      }
      if (first.isPresent()) {
        carryOut(Request.of(first.get()));
      }
    } catch (ControlProtocolException wrong) {
      // Before the client sees the end.
      server.incidents().refused(wrong.toString());
    }
  }

  private boolean handOver(ControlFrame frame) throws IOException {
    boolean evenInUse = frame.fields().flag();
    boolean agreed = server.agreesToHandOver(evenInUse);
    try {
      writer.write(new Payload().flag(agreed).frame(Kind.HANDED_OVER));
    } finally {
      if (agreed) {
        server.handOver();
      }
    }
    return agreed;
  }

  private void carryOut(Request request) throws IOException, InterruptedException {
    asked = true;
    ClientInvocation invocation;
    try {
      invocation = new ClientInvocation(request, outbox, worker);
    } catch (InvalidPathException strange) {
      throw new ControlProtocolException("no folder has this name: " + strange.getMessage());
    }
    carried = Optional.of(invocation);
    if (!tasks.start("write", this::write) || !tasks.start("handle", () -> handle(invocation))) {
      return; // The server is closed.
    }
    try {
      for (Optional<ControlFrame> next = reader.next(); next.isPresent(); next = reader.next()) {
        receive(next.get(), invocation);
      }
    } finally {
      invocation.disconnect();
      worker.await();
    }
  }

  private void write() {
    try {
      outbox.pump();
    } catch (IOException gone) {
      // The reading thread sees it too.
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void handle(ClientInvocation invocation) {
    int status;
    worker.begin();
    try {
      status = server.handler().handle(invocation);
    } catch (InterruptedException stop) {
      status = INTERRUPTED;
    } catch (Throwable bug) { // The top of the handler's thread.
      status = stopOrBug(invocation, bug);
    } finally {
      worker.end();
    }
    boolean isStopped = status == INTERRUPTED && server.isEnding() && !invocation.wasSignalled();
    try {
      outbox.finish(isStopped ? STOPPED : new Payload().number(status).frame(Kind.EXIT));
    } catch (IOException gone) {
      // The client is gone.
    }
  }

  /**
   * A handler whose stream or wait broke because the client left, or because it was stopped, is not
   * a bug.
   */
  private int stopOrBug(ClientInvocation invocation, Throwable thrown) {
    boolean brokeOff = hasCause(thrown, IOException.class) && !invocation.isConnected();
    if (brokeOff || hasCause(thrown, InterruptedException.class)) {
      return INTERRUPTED;
    }
    server.incidents().bug(String.join(" ", invocation.arguments()), thrown);
    say("gpush: bug: %s; log: %s\n".formatted(oneLine(thrown), server.incidents().log()));
    return ExitStatus.BUG.number();
  }

  private void say(String line) {
    try {
      outbox.put(new ControlFrame(Kind.ERROR, line.getBytes(StandardCharsets.UTF_8)));
    } catch (IOException gone) {
      // The client is gone.
    }
  }

  private void receive(ControlFrame frame, ClientInvocation invocation)
      throws IOException, InterruptedException {
    switch (frame.kind()) {
      case INPUT -> invocation.input().receive(frame.payload());
      case INPUT_END -> invocation.input().end();
      case SIGNAL -> signal(invocation, name(frame.fields()));
      case SIZE -> {
        Fields size = frame.fields();
        int columns = size.count(Facts.MOST_CELLS);
        int rows = size.count(Facts.MOST_CELLS);
        size.end();
        invocation.resize(columns, rows);
        signal(invocation, "WINCH");
      }
      case SPAWNED -> {
        Fields status = frame.fields();
        status.number();
        status.end();
        invocation.answers().receive(frame);
      }
      case ANSWER -> {
        Fields answer = frame.fields();
        answer.flag();
        answer.text();
        answer.end();
        invocation.answers().receive(frame);
      }
      case BROKEN -> {
        Fields broken = frame.fields();
        int stream = broken.count(2);
        broken.end();
        if (stream == 0) {
          throw new ControlProtocolException("only output is broken");
        }
        invocation.breakOutput(stream);
      }
      default -> throw new ControlProtocolException(frame + " where a client never sends it");
    }
  }

  private static String name(Fields fields) throws ControlProtocolException {
    String name = fields.text();
    fields.end();
    if (!SIGNAL_NAMES.contains(name)) {
      throw new ControlProtocolException("no client sends this signal");
    }
    return name;
  }

  /** On its own thread: a listener that waits must not delay input and other signals. */
  private void signal(ClientInvocation invocation, String name) {
    if (signals.tryAcquire()) {
      tasks.start(
          "signal",
          () -> {
            try {
              invocation.signal(name);
            } finally {
              signals.release();
            }
          });
    }
  }

  private static boolean hasCause(Throwable thrown, Class<? extends Throwable> kind) {
    for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
      if (kind.isInstance(cause)) {
        return true;
      }
    }
    return false;
  }

  private static String oneLine(Throwable thrown) {
    return CleanText.line(thrown.toString());
  }
}
