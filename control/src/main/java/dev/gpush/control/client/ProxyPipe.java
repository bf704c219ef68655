package dev.gpush.control.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * Connects this process's input and output with the socket of the gateway's SSH server, for ssh's
 * ProxyCommand on a machine without Python. It starts no gateway, because it must not read ssh's
 * bytes before they can be passed on: its status says that none answered.
 */
final class ProxyPipe {
  static final String WORD = "__connect";

  /** The status when no gateway answers, as sysexits.h has it for "try later". */
  static final int NO_GATEWAY = 75;

  private static final int PIECE = 64 << 10;

  /** In place of a socket's path: where the gateway has a port, and ssh is that of Windows. */
  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");

  private ProxyPipe() {}

  /** Returns the exit status once the gateway has closed the connection. */
  static int run(Path socket, InputStream input, OutputStream output) {
    boolean isPort = PORT.matcher(socket.toString()).matches();
    try (SocketChannel channel =
        SocketChannel.open(isPort ? StandardProtocolFamily.INET : StandardProtocolFamily.UNIX)) {
      try {
        channel.connect(
            isPort
                ? new InetSocketAddress(
                    InetAddress.getLoopbackAddress(), Integer.parseInt(socket.toString()))
                : UnixDomainSocketAddress.of(socket));
      } catch (IOException none) {
        return NO_GATEWAY;
      }
      Thread.ofPlatform().daemon().name("up").start(() -> up(input, channel));
      ByteBuffer piece = ByteBuffer.allocate(PIECE);
      while (channel.read(piece) >= 0) {
        output.write(piece.array(), 0, piece.position());
        output.flush();
        piece.clear();
      }
      return 0;
    } catch (IOException gone) {
      return 0;
    }
  }

  private static void up(InputStream input, SocketChannel channel) {
    try {
      input.transferTo(Channels.newOutputStream(channel));
      channel.shutdownOutput();
    } catch (IOException gone) {
      // The reading side notices, too.
    }
  }
}
