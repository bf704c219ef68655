package dev.gpush.link.simulator.agent;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameCodec;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.ProtocolException;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/** The agent in Java: {@link ModelLink}, and of {@code agent.py} the greeting. */
public final class ModelAgent implements AgentSide {
  private final FrameCodec codec = new FrameCodec();
  private final List<OwnerEvent> events = new ArrayList<>();
  private final Map<Integer, Pipe> pipes = new HashMap<>();
  private Sizes sizes = new Sizes(1, 1, 1, 1, 1, 1, 1);
  private final AgentFault fault;
  private ModelLink link;
  private String identity = "";
  private String incarnation = "";
  private long saidAt;
  private Optional<Pipe> current = Optional.empty();

  private static final class Pipe {
    private final FrameAssembler frames = new FrameAssembler();
    private ByteArrayOutputStream out = new ByteArrayOutputStream();
    private boolean greeted;
    private boolean closing;
  }

  public ModelAgent(AgentFault fault) {
    this.fault = fault;
    this.link = new ModelLink(sizes, fault, events);
  }

  @Override
  public void start(String name, Sizes wanted) {
    identity = name;
    sizes = wanted;
    incarnation = "";
    saidAt = 0;
    pipes.clear();
    events.clear();
    current = Optional.empty();
    link = new ModelLink(sizes, fault, events);
  }

  @Override
  public void connected(int pipe, long nanos) {
    pipes.put(pipe, new Pipe());
  }

  @Override
  public void received(int number, byte[] bytes, long nanos) {
    Pipe pipe = pipe(number);
    link.at(nanos);
    pipe.frames.add(bytes);
    try {
      while (!pipe.closing && pipes.containsKey(number)) {
        Optional<Frame> next = pipe.frames.next();
        if (next.isEmpty()) {
          return;
        }
        frame(number, pipe, next.orElseThrow(), nanos);
      }
    } catch (ProtocolException broken) {
      bye(pipe, "protocol", Json.object("reason", String.valueOf(broken.getMessage())));
    }
  }

  private void frame(int number, Pipe pipe, Frame frame, long nanos) throws ProtocolException {
    if (!pipe.greeted) {
      if (frame.kind() != FrameKind.HELLO) {
        throw new ProtocolException("no hello", frame.kind().toString());
      }
      hello(pipe, frame.json(), nanos);
    } else if (frame.kind() == FrameKind.BYE) {
      if (frame.json().text("code").orElse("").equals("gateway-stopped")
          && current.equals(Optional.of(pipe))) {
        ModelLink old = link;
        link = fresh(nanos);
        incarnation = "";
        old.cut();
      }
      disconnected(number, nanos);
    } else {
      link.receive(frame);
    }
  }

  private ModelLink fresh(long nanos) {
    var made = new ModelLink(sizes, fault, events);
    made.at(nanos);
    return made;
  }

  private void hello(Pipe pipe, Json.Obj hello, long nanos) {
    String from = hello.text("incarnation").orElse("");
    long at = hello.number("at").orElse(saidAt);
    long last = hello.number("last").orElse(0L);
    if (from.equals(incarnation) && at < saidAt) {
      bye(pipe, "superseded", Json.object("holder", "me"));
      return;
    }
    Optional<Pipe> old = current;
    current = Optional.of(pipe);
    old.ifPresent(other -> bye(other, "superseded", Json.object("holder", "me", "term", 1)));
    boolean resumed =
        !incarnation.isEmpty()
            && from.equals(incarnation)
            && hello.text("agent").orElse("").equals(identity)
            && link.isResumable(last);
    if (!resumed) {
      ModelLink before = link;
      link = fresh(nanos);
      before.cut();
    }
    incarnation = from;
    saidAt = at;
    pipe.greeted = true;
    write(pipe, Frame.ofJson(FrameKind.WELCOME, 0, 0, welcome(resumed)));
    if (resumed) {
      link.resume(last);
    }
  }

  private Json.Obj welcome(boolean resumed) {
    return Json.object("version", 2, "agent", identity)
        .with("resumed", resumed)
        .with("last", resumed ? link.lastIn : 0)
        .with("term", 1);
  }

  private void write(Pipe pipe, Frame frame) {
    pipe.out.writeBytes(codec.encode(frame).array());
  }

  private void bye(Pipe pipe, String code, Json facts) {
    if (!pipe.closing) {
      pipe.closing = true;
      pipe.out = new ByteArrayOutputStream();
      write(pipe, Frame.ofJson(FrameKind.BYE, 0, 0, Json.object("code", code, "facts", facts)));
    }
  }

  private Pipe pipe(int number) {
    return Objects.requireNonNull(pipes.get(number), () -> "pipe " + number);
  }

  @Override
  public void disconnected(int number, long nanos) {
    Pipe pipe = pipes.remove(number);
    if (current.equals(Optional.ofNullable(pipe))) {
      current = Optional.empty();
    }
  }

  @Override
  public byte[] take(int number, long nanos) {
    Pipe pipe = pipe(number);
    link.at(nanos);
    if (pipe.out.size() > 0) {
      byte[] bytes = pipe.out.toByteArray();
      pipe.out = new ByteArrayOutputStream();
      if (pipe.closing) {
        disconnected(number, nanos);
      }
      return bytes;
    }
    return pipe.greeted && !pipe.closing ? link.take(sizes.burst()) : new byte[0];
  }

  @Override
  public boolean isOpen(int pipe) {
    return pipes.containsKey(pipe);
  }

  @Override
  public long ackNanos() {
    return link.ackNanos();
  }

  @Override
  public void ping(long token) {
    link.ping(token);
  }

  @Override
  public List<OwnerEvent> events() {
    if (events.isEmpty()) {
      return List.of();
    }
    var all = List.copyOf(events);
    events.clear();
    return all;
  }

  @Override
  public Holds holds() {
    return link.holds();
  }

  private ModelStream stream(int number) {
    return Objects.requireNonNull(link.streams.get(number), () -> "stream " + number);
  }

  @Override
  public void accept(int stream) {
    stream(stream).opened();
  }

  @Override
  public void refuse(int stream, String code) {
    stream(stream).hasOwner = false;
    stream(stream).refuse(code);
  }

  @Override
  public int room(int stream) {
    return stream(stream).room();
  }

  @Override
  public void send(int stream, int channel, byte[] bytes) {
    stream(stream).send(channel, bytes);
  }

  @Override
  public void end(int stream, int channel) {
    stream(stream).end(channel);
  }

  @Override
  public void message(int stream, Json.Obj message, boolean urgent) {
    stream(stream).message(message, urgent);
  }

  @Override
  public void closeStream(int stream, Json.Obj reason) {
    stream(stream).stopSources();
    stream(stream).close(reason);
  }

  @Override
  public void consumed(int stream, int count, long nanos) {
    ModelStream of = link.streams.get(stream);
    if (of != null) {
      link.at(nanos);
      of.consumed(count);
    }
  }

  @Override
  public int open(Json.Obj request, boolean hasSources) {
    return link.open(request, hasSources);
  }

  @Override
  public void startSources(int stream) {
    stream(stream).startSources();
  }

  @Override
  public int readSource(int stream, int channel, byte[] ready, boolean isAtEnd) {
    return stream(stream).readSource(channel, ready, isAtEnd);
  }

  @Override
  public void close() {}
}
