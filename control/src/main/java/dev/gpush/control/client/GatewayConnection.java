package dev.gpush.control.client;

import dev.gpush.control.wire.ControlFrameReader;
import dev.gpush.control.wire.ControlFrameWriter;
import dev.gpush.control.wire.Greeting;
import java.io.IOException;
import java.nio.channels.SocketChannel;

/** An open connection to a gateway that has greeted. */
record GatewayConnection(
    SocketChannel channel, ControlFrameReader reader, ControlFrameWriter writer, Greeting greeting)
    implements AutoCloseable {
  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException closedAnyway) {
      // A socket that cannot be closed is not used again either.
    }
  }
}
