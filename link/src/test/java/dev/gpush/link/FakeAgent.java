package dev.gpush.link;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameReader;
import dev.gpush.link.frame.FrameWriter;
import dev.gpush.link.machine.LinkLimits;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * An agent in memory, written from the specification and apart from the link's classes (it shares
 * only the codec). Its streams echo what they get, within the credit that they have, and end with
 * {@code {exit: 0}}. It asserts what a gateway owes it: numbers without gaps, credit, order.
 */
final class FakeAgent implements PipeSource {
  /** What the agent does otherwise than it should, or how pipes behave. */
  record Habits(
      boolean replaysEverything,
      long skipsNumber,
      int cutsAfterReceived,
      int cutsAfterSent,
      int window) {
    static Habits good() {
      return new Habits(false, -1, -1, -1, LinkLimits.DEFAULT_WINDOW);
    }

    Habits cutAfterReceived(int frames) {
      return new Habits(replaysEverything, skipsNumber, frames, cutsAfterSent, window);
    }

    Habits cutAfterSent(int frames) {
      return new Habits(replaysEverything, skipsNumber, cutsAfterReceived, frames, window);
    }

    Habits replayingEverything() {
      return new Habits(true, skipsNumber, cutsAfterReceived, cutsAfterSent, window);
    }

    Habits skipping(long number) {
      return new Habits(replaysEverything, number, cutsAfterReceived, cutsAfterSent, window);
    }
  }

  private static final class EchoStream {
    private final ArrayDeque<Frame> waiting = new ArrayDeque<>();
    private final boolean mute;
    private long received;
    private long granted;
    private long sent;
    private long allowed;

    EchoStream(long granted, long allowed, boolean mute) {
      this.granted = granted;
      this.allowed = allowed;
      this.mute = mute;
    }
  }

  private final Tasks tasks;
  private final Habits habits;
  private final BlockingQueue<FakePipe> pipes = new LinkedBlockingQueue<>();
  private final Recorder<Frame> received = new Recorder<>();
  private final Recorder<Throwable> failures = new Recorder<>();

  // only the thread of the present pipe touches these; the next pipe's starts after it has ended
  private final Map<Integer, EchoStream> streams = new HashMap<>();
  private final List<Frame> kept = new ArrayList<>();
  private String incarnation = "a".repeat(32);
  private String gateway = "";
  private long lastIn;
  private long lastOut;
  private int framesIn;
  private int framesOut;
  private Optional<Task<Boolean, RuntimeException>> running = Optional.empty();

  FakeAgent(Tasks tasks, Habits habits) {
    this.tasks = tasks;
    this.habits = habits;
  }

  /** The next pipe that is asked for; without one, pipes never break. */
  void next(FakePipe pipe) {
    pipes.add(pipe);
  }

  /** Every frame that came, duplicates too. */
  Recorder<Frame> received() {
    return received;
  }

  Recorder<Throwable> failures() {
    return failures;
  }

  /** The agent died and another one took its place. */
  void restart() throws InterruptedException {
    awaitEnd();
    incarnation = "b".repeat(32);
    gateway = "";
  }

  private void awaitEnd() throws InterruptedException {
    if (running.isPresent()) {
      try {
        running.orElseThrow().get();
      } catch (RuntimeException | Error failed) {
        failures.add(failed);
      }
    }
  }

  @Override
  public FakePipe open() throws InterruptedException {
    awaitEnd();
    FakePipe next = pipes.poll();
    FakePipe pipe = next == null ? new FakePipe() : next;
    running = Optional.of(tasks.fork("agent", () -> serve(pipe)));
    return pipe;
  }

  private boolean serve(FakePipe pipe) {
    var writer = new FrameWriter(pipe.agentOutput());
    try {
      var reader = new FrameReader(pipe.agentInput());
      for (var next = reader.next(); next.isPresent(); next = reader.next()) {
        received.add(next.orElseThrow());
        if (framesIn++ == habits.cutsAfterReceived()) {
          return false;
        }
        accept(next.orElseThrow(), writer);
        writer.flush();
      }
    } catch (IOException broken) {
      return false;
    } catch (AssertionError wrong) {
      failures.add(wrong);
    } finally {
      pipe.close();
    }
    return true;
  }

  private void accept(Frame frame, FrameWriter writer) throws IOException {
    if (frame.kind().isSequenced()) {
      if (frame.sequence() <= lastIn) {
        return;
      }
      require(frame.sequence() == lastIn + 1, "gap before " + frame);
      lastIn = frame.sequence();
      writer.write(Frame.ofNumber(FrameKind.ACK, 0, lastIn));
    }
    EchoStream stream = streams.get(frame.stream());
    switch (frame.kind()) {
      case HELLO -> hello(frame.json(), writer);
      case PING -> writer.write(Frame.ofNumber(FrameKind.PONG, 0, frame.number()));
      case ACK -> kept.removeIf(old -> old.sequence() <= frame.number());
      case OPEN -> open(frame, writer);
      case CREDIT -> {
        if (stream != null) {
          stream.allowed = Math.max(stream.allowed, frame.number());
          drain(frame.stream(), stream, writer);
        }
      }
      case DATA -> {
        require(stream != null, "DATA on no stream");
        stream.received += frame.length();
        require(stream.received <= stream.granted, "beyond credit: " + stream.received);
        if (!stream.mute) {
          stream.waiting.add(frame);
          drain(frame.stream(), stream, writer);
        }
      }
      case END -> {
        stream.waiting.add(
            new Frame(FrameKind.END, frame.flags(), frame.stream(), 0, ByteBuffer.allocate(0)));
        stream.waiting.add(
            Frame.ofJson(FrameKind.CLOSE, 0, frame.stream(), Json.object("exit", 0)));
        drain(frame.stream(), stream, writer);
      }
      case CLOSE -> {
        if (streams.remove(frame.stream()) != null) {
          send(writer, Frame.ofJson(FrameKind.CLOSE, 0, frame.stream(), Json.object()));
        }
      }
      case MESSAGE -> send(writer, frame);
      case PONG, BYE, WELCOME, OPENED, REFUSED -> {}
    }
  }

  private void hello(Json hello, FrameWriter writer) throws IOException {
    String from = hello.text("incarnation").orElse("");
    boolean resumed = from.equals(gateway) && hello.text("agent").orElse("").equals(incarnation);
    if (!resumed) {
      gateway = from;
      lastIn = 0;
      lastOut = 0;
      kept.clear();
      streams.clear();
    }
    Json welcome =
        Json.object(
            "version", 2, "agent", incarnation, "resumed", resumed, "last", lastIn, "term", 1);
    writer.write(Frame.ofJson(FrameKind.WELCOME, 0, 0, welcome));
    if (!habits.replaysEverything()) {
      kept.removeIf(old -> old.sequence() <= hello.number("last").orElse(0L));
    }
    for (Frame old : kept) {
      writer.write(old);
    }
    for (var entry : streams.entrySet()) {
      writer.write(Frame.ofNumber(FrameKind.CREDIT, entry.getKey(), entry.getValue().granted));
    }
  }

  private void open(Frame frame, FrameWriter writer) throws IOException {
    Json.Obj request = frame.json();
    if (request.text("type").orElse("").equals("nothing")) {
      send(
          writer,
          Frame.ofJson(
              FrameKind.REFUSED,
              0,
              frame.stream(),
              Json.object("code", "not-found", "facts", Json.object())));
      return;
    }
    boolean mute = request.text("type").orElse("").equals("mute");
    streams.put(
        frame.stream(), new EchoStream(habits.window(), request.number("credit").orElse(0L), mute));
    send(
        writer,
        Frame.ofJson(FrameKind.OPENED, 0, frame.stream(), Json.object("credit", habits.window())));
    if (request.text("type").orElse("").equals("flood")) {
      var stream = streams.get(frame.stream());
      for (int i = 0; i < 100; i++) {
        stream.waiting.add(
            new Frame(FrameKind.DATA, 0, frame.stream(), 0, ByteBuffer.wrap(new byte[1_000])));
        stream.received += 1_000;
        stream.granted += 1_000;
      }
      drain(frame.stream(), stream, writer);
    }
  }

  /** Echoes what credit allows; what was echoed may be sent again by the gateway. */
  private void drain(int number, EchoStream stream, FrameWriter writer) throws IOException {
    while (!stream.waiting.isEmpty()) {
      Frame next = stream.waiting.element();
      if (next.kind() == FrameKind.DATA && stream.sent + next.length() > stream.allowed) {
        return;
      }
      stream.waiting.remove();
      if (next.kind() == FrameKind.CLOSE) {
        streams.remove(number);
      }
      stream.sent += next.kind() == FrameKind.DATA ? next.length() : 0; // before the pipe may break
      send(writer, next);
      if (next.kind() == FrameKind.DATA) {
        stream.granted += next.length();
        writer.write(Frame.ofNumber(FrameKind.CREDIT, number, stream.granted));
      }
    }
  }

  private void send(FrameWriter writer, Frame frame) throws IOException {
    lastOut += lastOut + 1 == habits.skipsNumber() ? 2 : 1;
    Frame numbered = frame.numbered(lastOut);
    kept.add(numbered);
    if (framesOut++ == habits.cutsAfterSent()) {
      writer.flush();
      throw new IOException("cut");
    }
    writer.write(numbered);
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new AssertionError(what);
    }
  }
}
