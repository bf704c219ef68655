package dev.gpush.control.client;

import dev.gpush.control.wire.FrameReader;
import dev.gpush.control.wire.FrameWriter;
import dev.gpush.control.wire.Greeting;
import java.io.IOException;
import java.nio.channels.SocketChannel;

/** An open connection to a gateway that has greeted. */
record Visit(SocketChannel channel, FrameReader reader, FrameWriter writer, Greeting greeting)
    implements AutoCloseable {
  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException closedAnyway) {
      // A socket that cannot be closed is of no more use either way.
    }
  }
}
