package dev.gpush.link.simulator.agent;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameCodec;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameLimits;
import dev.gpush.link.frame.ProtocolException;
import dev.gpush.link.simulator.agent.ModelStream.Item;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** {@code machine.py} in Java, line by line: what it does must stay what the agent does. */
final class ModelLink {
  private static final int MAX_STREAMS = 4096;
  private static final int LANE_IN_A_ROW = 64;
  private static final int FRAME_COST = 256;
  private static final int MAX_UNACKNOWLEDGED = 32768;
  private static final int ACK_FRAMES = 64;
  private static final int ACK_BYTES = 256 * 1024;
  private static final double ACK_SECONDS = 0.05;
  private static final int MAX_DATA = 131072;

  /** A frame of a stream in the fast lane. */
  record Lane(ModelStream stream, Item item) {}

  private record Kept(long sequence, byte[] frame, FrameKind kind, ModelStream stream) {
    int payload() {
      return frame.length - FrameLimits.HEADER_BYTES;
    }
  }

  final AgentSide.Sizes sizes;
  final AgentFault fault;
  private final List<AgentSide.OwnerEvent> events;
  private final FrameCodec codec = new FrameCodec();
  private double now;

  final Map<Integer, ModelStream> streams = new LinkedHashMap<>();
  long lastIn;
  private long lastOut;
  private long lastAcked;
  private final ArrayDeque<Kept> kept = new ArrayDeque<>();
  private long keptBytes;
  private int keptOthers;
  private int inARow;
  long queued;
  long windows;
  private ArrayDeque<Kept> replay = new ArrayDeque<>();
  private final ArrayDeque<Frame> control = new ArrayDeque<>();
  final ArrayDeque<Lane> lane = new ArrayDeque<>();
  final ArrayDeque<ModelStream> ring = new ArrayDeque<>();
  final Set<ModelStream> dirty = new LinkedHashSet<>();
  private int unackedFrames;
  private long unackedBytes;
  private double ackDue = Double.NaN;
  private int highest;
  private int nextOwn = 2;
  private boolean wasFull;
  private List<ModelStream> relieved = new ArrayList<>();

  ModelLink(AgentSide.Sizes sizes, AgentFault fault, List<AgentSide.OwnerEvent> events) {
    this.sizes = sizes;
    this.fault = fault;
    this.events = events;
  }

  void at(long nanos) {
    now = nanos / 1e9;
  }

  double seconds() {
    return now;
  }

  long ackNanos() {
    return Double.isNaN(ackDue) ? Long.MAX_VALUE : (long) (ackDue * 1e9) + 1;
  }

  AgentSide.Holds holds() {
    return new AgentSide.Holds(streams.size(), kept.size(), keptBytes + queued);
  }

  boolean isFull() {
    boolean full = keptBytes + queued >= sizes.pool();
    if (full) {
      wasFull = true;
    }
    return full;
  }

  void lane(ModelStream stream, Item item) {
    stream.ahead++;
    lane.add(new Lane(stream, item));
  }

  int open(Json.Obj value, boolean hasSources) {
    while (streams.containsKey(nextOwn)) {
      nextOwn += 2;
    }
    int number = nextOwn;
    nextOwn += 2;
    ModelStream stream = add(number, true, 0);
    stream.answered = true;
    stream.startsWhenOpened = hasSources;
    lane(
        stream, new Item(FrameKind.OPEN, 0, ModelStream.pack(value.with("credit", stream.window))));
    return number;
  }

  void ping(long token) {
    control.add(Frame.ofNumber(FrameKind.PING, 0, token));
  }

  private boolean ackNow() {
    return unackedFrames >= ACK_FRAMES
        || unackedBytes >= ACK_BYTES
        || (!Double.isNaN(ackDue) && now >= ackDue);
  }

  byte[] take(int limit) {
    var out = new ByteArrayOutputStream();
    takeControl(out);
    int size = takeLane(out, limit, takeReplay(out, limit));
    while (size < limit) {
      int took = turn(out);
      if (took == 0) {
        break;
      }
      size += took;
    }
    var again = relieved;
    relieved = new ArrayList<>();
    again.forEach(ModelStream::callOwnerForRoom);
    return out.toByteArray();
  }

  private void takeControl(ByteArrayOutputStream out) {
    if (unackedFrames > 0 && (ackNow() || !lane.isEmpty() || !ring.isEmpty() || !dirty.isEmpty())) {
      control.add(Frame.ofNumber(FrameKind.ACK, 0, lastIn));
      unackedFrames = 0;
      unackedBytes = 0;
      ackDue = Double.NaN;
    }
    while (!control.isEmpty()) {
      out.writeBytes(bytes(control.remove()));
    }
    for (ModelStream stream : dirty) {
      if (!stream.peerClose && ((stream.number & 1) == 1 || stream.accepted)) {
        out.writeBytes(bytes(Frame.ofNumber(FrameKind.CREDIT, stream.number, stream.granted)));
      }
    }
    dirty.clear();
  }

  private int takeReplay(ByteArrayOutputStream out, int limit) {
    int size = 0;
    while (!replay.isEmpty() && size < limit) {
      Kept next = replay.remove();
      if (next.sequence() > lastAcked) {
        out.writeBytes(next.frame());
        size += next.frame().length;
      }
    }
    return size;
  }

  private int takeLane(ByteArrayOutputStream out, int limit, int before) {
    int size = before;
    while (!lane.isEmpty() && size < limit) {
      if (inARow >= LANE_IN_A_ROW) {
        inARow = 0;
        size += turn(out);
        continue;
      }
      inARow++;
      Lane next = lane.remove();
      next.stream().ahead--;
      if (next.item().kind == FrameKind.DATA) {
        next.stream().inLane = false;
        count(next.stream(), next.item().length());
      }
      size += number(next.stream(), next.item(), next.item().length(), out);
    }
    return size;
  }

  private byte[] bytes(Frame frame) {
    return codec.encode(frame).array();
  }

  private int turn(ByteArrayOutputStream out) {
    for (int i = ring.size(); i > 0; i--) {
      ModelStream stream = ring.remove();
      int took = piece(stream, out);
      if (stream.queue.isEmpty()) {
        stream.waiting = false;
      } else {
        ring.add(stream);
      }
      if (took > 0) {
        inARow = 0;
        return took;
      }
    }
    return 0;
  }

  private int piece(ModelStream stream, ByteArrayOutputStream out) {
    boolean waits = fault == AgentFault.OVERTAKE_OPENED ? stream.inLane : stream.ahead > 0;
    if (waits || stream.queue.isEmpty()) {
      return 0;
    }
    Item item = stream.queue.element();
    int length = item.length();
    if (item.kind == FrameKind.DATA) {
      int may = (int) Math.min(stream.allowed - stream.sent, MAX_DATA);
      if (may <= 0) {
        return 0;
      }
      if (length > may) {
        length = may;
      } else {
        stream.queue.remove();
      }
      count(stream, length);
    } else {
      stream.queue.remove();
    }
    return number(stream, item, length, out);
  }

  private void count(ModelStream stream, int length) {
    stream.sent += length;
    stream.queued -= length;
    queued -= length;
    if (stream.starved && stream.queued <= sizes.queue() / 2) {
      stream.starved = false;
      relieved.add(stream);
    }
  }

  private int number(ModelStream stream, Item item, int length, ByteArrayOutputStream out) {
    lastOut++;
    ByteBuffer payload = ByteBuffer.wrap(item.payload, item.from, length);
    byte[] frame = bytes(new Frame(item.kind, item.flags, stream.number, lastOut, payload));
    item.from += length;
    kept.add(new Kept(lastOut, frame, item.kind, stream));
    keptBytes += length + FRAME_COST;
    if (item.kind == FrameKind.DATA) {
      stream.kept += FRAME_COST;
    } else {
      keptOthers++;
    }
    out.writeBytes(frame);
    return length + FrameLimits.HEADER_BYTES;
  }

  boolean isResumable(long last) {
    return lastAcked <= last && last <= lastOut;
  }

  void resume(long last) {
    acknowledge(last);
    control.clear();
    unackedFrames = 0;
    unackedBytes = 0;
    ackDue = Double.NaN;
    replay = new ArrayDeque<>(kept);
    dirty.addAll(streams.values());
  }

  void cut() {
    var all = new ArrayList<>(streams.values());
    streams.clear();
    for (ModelStream stream : all) {
      stream.ownClose = true;
      stream.peerClose = true;
      stream.stopSources();
      call(stream, AgentSide.Kind.CUT, 0, new byte[0], Json.object());
    }
  }

  private void call(
      ModelStream stream, AgentSide.Kind kind, int channel, byte[] bytes, Json.Obj json) {
    if (stream.hasOwner) {
      events.add(new AgentSide.OwnerEvent(kind, stream.number, channel, bytes, json));
    }
  }

  void receive(Frame frame) throws ProtocolException {
    switch (frame.kind()) {
      case OPEN, OPENED, REFUSED, DATA, END, MESSAGE, CLOSE -> {
        if (frame.sequence() <= lastIn) {
          return;
        }
        if (frame.sequence() != lastIn + 1) {
          throw new ProtocolException("gap", frame.sequence() + " after " + lastIn);
        }
        sequenced(frame);
        lastIn = frame.sequence();
        unackedFrames++;
        unackedBytes += frame.length();
        if (Double.isNaN(ackDue)) {
          ackDue = now + ACK_SECONDS;
        }
      }
      case ACK -> {
        if (frame.number() > lastOut) {
          throw new ProtocolException("ack", frame.number() + " of " + lastOut);
        }
        acknowledge(frame.number());
      }
      case CREDIT -> {
        ModelStream stream = streams.get(frame.stream());
        if (stream != null && frame.number() > stream.allowed) {
          stream.allowed = frame.number();
          stream.starved = false;
          stream.callOwnerForRoom();
        }
      }
      case PING -> {
        control.removeIf(waits -> waits.kind() == FrameKind.PONG);
        control.add(Frame.ofNumber(FrameKind.PONG, 0, frame.number()));
      }
      case PONG -> {}
      case HELLO, WELCOME, BYE -> throw new ProtocolException("kind", frame.kind().toString());
    }
  }

  private void acknowledge(long value) {
    while (!kept.isEmpty() && kept.element().sequence() <= value) {
      Kept done = kept.remove();
      keptBytes -= done.payload() + FRAME_COST;
      if (done.kind() != FrameKind.DATA) {
        keptOthers--;
        continue;
      }
      ModelStream stream = done.stream();
      stream.kept -= done.payload() + FRAME_COST;
      if (wasFull && stream.starved && stream.kept <= sizes.small() / 2) {
        stream.starved = false;
        relieved.add(stream);
      }
    }
    lastAcked = Math.max(lastAcked, value);
    if (wasFull && keptBytes + queued < sizes.pool() / 2) {
      wasFull = false;
      for (ModelStream stream : List.copyOf(streams.values())) {
        stream.starved = false;
        stream.callOwnerForRoom();
      }
    }
  }

  private void sequenced(Frame frame) throws ProtocolException {
    int number = frame.stream();
    if (frame.kind() == FrameKind.OPEN) {
      open(number, frame.json());
      return;
    }
    ModelStream stream = streams.get(number);
    if (stream == null) {
      if ((number & 1) == 1 ? number > highest : number >= nextOwn) {
        throw new ProtocolException("never-opened", frame.kind() + " " + number);
      }
      return;
    }
    if (stream.peerClose) {
      throw new ProtocolException("after-close", frame.kind() + " " + number);
    }
    boolean isOfChannel = frame.kind() == FrameKind.DATA || frame.kind() == FrameKind.END;
    if (isOfChannel && (stream.peerEnded >> frame.flags() & 1) != 0) {
      throw new ProtocolException("after-end", frame.kind() + " " + number);
    }
    switch (frame.kind()) {
      case DATA -> data(stream, frame);
      case END -> {
        stream.peerEnded |= 1 << frame.flags();
        if (!stream.ownClose) {
          call(stream, AgentSide.Kind.END, frame.flags(), new byte[0], Json.object());
        }
      }
      case MESSAGE -> {
        if (!stream.ownClose) {
          call(stream, AgentSide.Kind.MESSAGE, frame.flags(), new byte[0], frame.json());
        }
      }
      case CLOSE -> closed(stream, frame);
      default -> answered(stream, frame);
    }
  }

  private void closed(ModelStream stream, Frame frame) throws ProtocolException {
    stream.peerClose = true;
    if (!stream.ownClose) {
      stream.discard();
      stream.stopSources();
      call(stream, AgentSide.Kind.CLOSE, 0, new byte[0], frame.json());
      stream.close(Json.object());
    }
    settle(stream);
  }

  private void data(ModelStream stream, Frame frame) throws ProtocolException {
    int length = frame.length();
    if (stream.received + length > stream.granted) {
      throw new ProtocolException("credit", stream.received + length + " of " + stream.granted);
    }
    stream.received += length;
    if (stream.ownClose || !stream.hasOwner) {
      stream.consumed(length);
    } else if (length > 0) {
      ByteBuffer payload = frame.payload();
      byte[] bytes =
          Arrays.copyOfRange(
              payload.array(), payload.arrayOffset(), payload.arrayOffset() + length);
      call(stream, AgentSide.Kind.DATA, frame.flags(), bytes, Json.object());
    }
  }

  private void answered(ModelStream stream, Frame frame) throws ProtocolException {
    if ((stream.number & 1) == 1) {
      throw new ProtocolException("direction", frame.kind() + " " + stream.number);
    }
    if (stream.accepted) {
      throw new ProtocolException("unexpected", frame.kind() + " " + stream.number);
    }
    Json.Obj value = frame.json();
    if (frame.kind() == FrameKind.OPENED) {
      stream.accepted = true;
      stream.allowed = Math.max(stream.allowed, value.number("credit").orElse(0L));
      if (!stream.ownClose) {
        call(stream, AgentSide.Kind.OPENED, 0, new byte[0], value);
        if (stream.startsWhenOpened) {
          stream.startSources();
        }
        stream.callOwnerForRoom();
      }
    } else {
      boolean wasClosed = stream.ownClose;
      stream.ownClose = true;
      stream.peerClose = true;
      forget(stream);
      if (!wasClosed) {
        call(stream, AgentSide.Kind.REFUSED, 0, new byte[0], value);
      }
    }
  }

  private void open(int number, Json.Obj value) throws ProtocolException {
    if ((number & 1) == 0) {
      throw new ProtocolException("direction", "OPEN " + number);
    }
    if (streams.containsKey(number)) {
      throw new ProtocolException("twice", "OPEN " + number);
    }
    if (keptOthers + lane.size() + ring.size() > MAX_UNACKNOWLEDGED) {
      throw new ProtocolException("unacknowledged", "OPEN " + number);
    }
    highest = Math.max(highest, number);
    ModelStream stream = add(number, false, value.number("credit").orElse(0L));
    if (streams.size() > MAX_STREAMS) {
      stream.refuse("limit");
    } else {
      stream.hasOwner = true;
      call(stream, AgentSide.Kind.OFFERED, 0, new byte[0], value);
    }
  }

  private ModelStream add(int number, boolean hasOwner, long allowed) {
    int window = windows + sizes.window() <= sizes.pool() ? sizes.window() : sizes.small();
    var stream = new ModelStream(this, number, hasOwner, allowed, window);
    windows += window;
    streams.put(number, stream);
    return stream;
  }

  void settle(ModelStream stream) {
    if (stream.ownClose && stream.peerClose) {
      forget(stream);
    }
  }

  void forget(ModelStream stream) {
    if (streams.remove(stream.number, stream)) {
      windows -= stream.window;
      dirty.remove(stream);
    }
  }
}
