package dev.gpush.ssh.direct;

import dev.gpush.core.json.Json;
import dev.gpush.ssh.socket.ChannelSockets;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A connection to the loopback interface that does not block: its addresses one after the other.
 * The kernel answers at once, except while the server's queue is full.
 */
public final class LoopbackDial {
  private static final byte[] IPV4 = {127, 0, 0, 1};
  private static final byte[] IPV6 = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

  /** The order is the agent's (streams/connections.py). */
  private static final Map<String, List<byte[]>> HOSTS =
      Map.of(
          "localhost", List.of(IPV4, IPV6),
          "", List.of(IPV4, IPV6),
          "127.0.0.1", List.of(IPV4),
          "::1", List.of(IPV6));

  private static final int MOST_PORT = 65_535;

  private final ArrayDeque<InetSocketAddress> left = new ArrayDeque<>();

  private LoopbackDial() {}

  /** None when the request means anything but a port of the loopback interface. */
  public static Optional<LoopbackDial> to(Json.Obj request) {
    List<byte[]> addresses =
        request.text("host").map(host -> HOSTS.getOrDefault(host, List.of())).orElse(List.of());
    long port = request.number("port").orElse(0L);
    if (addresses.isEmpty() || port < 1 || port > MOST_PORT) {
      return Optional.empty();
    }
    var dial = new LoopbackDial();
    try {
      for (byte[] address : addresses) {
        dial.left.add(new InetSocketAddress(InetAddress.getByAddress(address), (int) port));
      }
      return Optional.of(dial);
    } catch (IOException wrongLength) {
      throw new IllegalStateException(wrongLength);
    }
  }

  /**
   * Connects.
   *
   * @param connected gets the socket, on this thread or the sockets' own
   * @param failed called instead when no address answers
   */
  public void start(ChannelSockets sockets, Consumer<SocketChannel> connected, Runnable failed) {
    while (!left.isEmpty()) {
      InetSocketAddress address = left.remove();
      try {
        SocketChannel socket = open(address);
        try {
          // The kernel has connected when it returns, but says so only to the second question.
          if (socket.connect(address) || socket.finishConnect()) {
            connected.accept(socket);
            return;
          }
          if (awaits(sockets, socket, connected, failed)) {
            return;
          }
          socket.close();
        } catch (IOException refused) {
          socket.close();
        }
      } catch (IOException noSocket) {
        // The next address, or the agent, which says what is wrong.
      }
    }
    failed.run();
  }

  private static SocketChannel open(InetSocketAddress address) throws IOException {
    boolean isIpv4 = address.getAddress().getAddress().length == IPV4.length;
    SocketChannel socket =
        SocketChannel.open(isIpv4 ? StandardProtocolFamily.INET : StandardProtocolFamily.INET6);
    socket.configureBlocking(false);
    socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
    return socket;
  }

  private boolean awaits(
      ChannelSockets sockets,
      SocketChannel socket,
      Consumer<SocketChannel> connected,
      Runnable failed) {
    var pending = new Pending(sockets, socket, connected, failed);
    Optional<ChannelSockets.Watched> watched = sockets.watch(socket, pending::ready);
    pending.watched = watched;
    watched.ifPresent(key -> key.waitFor(SelectionKey.OP_CONNECT));
    return watched.isPresent();
  }

  /** Used on the sockets' own thread only. */
  private final class Pending {
    private final ChannelSockets sockets;
    private final SocketChannel socket;
    private final Consumer<SocketChannel> connected;
    private final Runnable failed;
    private Optional<ChannelSockets.Watched> watched = Optional.empty();

    Pending(
        ChannelSockets sockets,
        SocketChannel socket,
        Consumer<SocketChannel> connected,
        Runnable failed) {
      this.sockets = sockets;
      this.socket = socket;
      this.connected = connected;
      this.failed = failed;
    }

    void ready(ByteBuffer unused) {
      try {
        if (!socket.finishConnect()) {
          return;
        }
      } catch (IOException refused) {
        watched.ifPresent(ChannelSockets.Watched::end);
        close();
        start(sockets, connected, failed);
        return;
      }
      connected.accept(socket);
    }

    private void close() {
      try {
        socket.close();
      } catch (IOException gone) {
        // It is closed in any case.
      }
    }
  }
}
