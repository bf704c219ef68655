package dev.gpush.link.simulator.agent;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.FrameKind;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;

/** {@code stream.py} in Java, line by line: what it does must stay what the agent does. */
final class ModelStream {
  /** DATA up to this goes ahead of bulk. */
  private static final int INTERACTIVE = 4096;

  private static final double FAST_SECONDS = 1.0;

  /** A frame that has no number yet. */
  static final class Item {
    final FrameKind kind;
    final int flags;
    byte[] payload;
    int from;

    Item(FrameKind kind, int flags, byte[] payload) {
      this.kind = kind;
      this.flags = flags;
      this.payload = payload;
    }

    int length() {
      return payload.length - from;
    }
  }

  private final ModelLink link;
  final int number;
  final ArrayDeque<Item> queue = new ArrayDeque<>();
  boolean hasOwner;
  long queued;
  long sent;
  long allowed;
  int window;
  long received;
  private long consumedTotal;
  long granted;
  private long mark;
  private double markAt = Double.NaN;
  boolean ownClose;
  boolean peerClose;
  boolean answered;
  private final boolean[] ended = new boolean[2];
  boolean inLane;
  int ahead;
  boolean waiting;
  boolean starved;
  long kept;
  boolean accepted;
  int peerEnded;
  boolean startsWhenOpened;
  private List<ModelSource> sources = List.of();

  ModelStream(ModelLink link, int number, boolean hasOwner, long allowed, int window) {
    this.link = link;
    this.number = number;
    this.hasOwner = hasOwner;
    this.allowed = allowed;
    this.window = window;
    this.granted = window;
  }

  static byte[] pack(Json json) {
    return json.write().getBytes(StandardCharsets.UTF_8);
  }

  int room() {
    if (ownClose) {
      return 0;
    }
    long room = Math.min(allowed - sent - queued, link.sizes.queue() - queued);
    if (link.isFull()) {
      room = Math.min(room, link.sizes.small() - kept);
    }
    if (room <= 0) {
      starved = true;
    } else if (link.fault == AgentFault.FORGET_SOURCE) {
      starved = false;
    }
    return (int) Math.max(0, room);
  }

  /** {@code owner.room()}: as that of a command, it calls all sources. */
  void callOwnerForRoom() {
    if (hasOwner && !ownClose) {
      sources.forEach(ModelSource::room);
    }
  }

  void startSources() {
    sources = List.of(new ModelSource(this, 0), new ModelSource(this, 1));
    sources.forEach(ModelSource::room);
  }

  int chunk() {
    return link.sizes.chunk();
  }

  void stopSources() {
    sources.forEach(ModelSource::stop);
  }

  int readSource(int channel, byte[] ready, boolean isAtEnd) {
    return sources.get(channel).read(ready, isAtEnd);
  }

  void send(int channel, byte[] payload) {
    if (ownClose || payload.length == 0) {
      return;
    }
    queued += payload.length;
    kept += payload.length;
    link.queued += payload.length;
    var item = new Item(FrameKind.DATA, channel, payload);
    if (queue.isEmpty()
        && !inLane
        && payload.length <= INTERACTIVE
        && sent + payload.length <= allowed) {
      inLane = true;
      link.lane(this, item);
    } else {
      await(item);
    }
  }

  void end(int channel) {
    if (!ownClose && !ended[channel]) {
      ended[channel] = true;
      await(new Item(FrameKind.END, channel, new byte[0]));
    }
  }

  void message(Json.Obj value, boolean urgent) {
    if (ownClose) {
      return;
    }
    var item = new Item(FrameKind.MESSAGE, urgent ? 1 : 0, pack(value));
    if (urgent) {
      link.lane(this, item);
    } else {
      await(item);
    }
  }

  void opened() {
    if (!answered && !ownClose) {
      answered = true;
      link.lane(this, new Item(FrameKind.OPENED, 0, pack(Json.object("credit", granted))));
    }
  }

  void refuse(String code) {
    Json.Obj value = Json.object("code", code, "facts", Json.object());
    if (answered) {
      close(value);
      return;
    }
    if (!ownClose) {
      answered = true;
      ownClose = true;
      peerClose = true;
      link.lane(this, new Item(FrameKind.REFUSED, 0, pack(value)));
      link.forget(this);
    }
  }

  void close(Json.Obj value) {
    if (ownClose) {
      return;
    }
    if (!answered) {
      refuse("closed");
      return;
    }
    await(new Item(FrameKind.CLOSE, 0, pack(value)));
    ownClose = true;
    link.settle(this);
  }

  void discard() {
    link.queued -= queued;
    kept -= queued;
    queued = 0;
    queue.clear();
    if (inLane) {
      link.lane.removeIf(entry -> entry.stream() == this && entry.item().kind == FrameKind.DATA);
      ahead--;
      inLane = false;
    }
  }

  void consumed(int count) {
    consumedTotal += count;
    if (peerClose) {
      return;
    }
    long total = consumedTotal + window;
    if (total - granted >= window / 2) {
      grow();
      granted = consumedTotal + window;
      link.dirty.add(this);
    }
  }

  private void grow() {
    double now = link.seconds();
    if (Double.isNaN(markAt) || now - markAt > FAST_SECONDS) {
      mark = consumedTotal;
      markAt = now;
    } else if (consumedTotal - mark >= window) {
      int more = Math.min(link.sizes.largest(), window * 2) - window;
      if (more > 0 && link.windows + more <= link.sizes.pool()) {
        window += more;
        link.windows += more;
      }
      mark = consumedTotal;
      markAt = now;
    }
  }

  private void await(Item item) {
    queue.add(item);
    if (!waiting) {
      waiting = true;
      link.ring.add(this);
    }
  }
}
