package dev.gpush.link.simulator.agent;

import java.util.Arrays;

/** The {@code Source} of {@code pumps.py} in Java: what it does must stay what the agent does. */
final class ModelSource {
  private final ModelStream stream;
  private final int channel;
  private boolean watched;
  private boolean over;

  ModelSource(ModelStream stream, int channel) {
    this.stream = stream;
    this.channel = channel;
  }

  /** Starts or goes on reading. */
  void room() {
    if (!over && stream.room() > 0) {
      watched = true;
    }
  }

  int read(byte[] ready, boolean isAtEnd) {
    if (!watched) {
      return AgentSide.NOT_WATCHED;
    }
    int room = stream.room();
    if (room <= 0) {
      watched = false;
      return 0;
    }
    int count = Math.min(ready.length, Math.min(room, stream.chunk()));
    if (count > 0) {
      stream.send(channel, Arrays.copyOf(ready, count));
      return count;
    }
    if (!isAtEnd) {
      return 0;
    }
    stop();
    stream.end(channel);
    return AgentSide.AT_END;
  }

  void stop() {
    over = true;
    watched = false;
  }
}
