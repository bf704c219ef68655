package dev.gpush.ssh.socket;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Who is at the other end of a connection on the loopback interface: all of them have one address,
 * so a source is a user of this machine, as the kernel's table has it. Elsewhere than on Linux, it
 * is the address.
 */
final class PeerUsers {
  private static final List<Path> TABLES =
      List.of(Path.of("/proc/net/tcp"), Path.of("/proc/net/tcp6"));

  // columns
  private static final int LOCAL = 1;
  private static final int REMOTE = 2;
  private static final int USER = 7;

  private PeerUsers() {}

  static String of(SocketAddress peer, SocketAddress own) {
    if (peer instanceof InetSocketAddress from && own instanceof InetSocketAddress to) {
      return TABLES.stream()
          .flatMap(table -> user(table, from.getPort(), to.getPort()).stream())
          .findFirst()
          .orElseGet(() -> from.getAddress().getHostAddress());
    }
    // A socket that only this user can open.
    return String.valueOf(own);
  }

  private static Optional<String> user(Path table, int from, int to) {
    try (Stream<String> lines = Files.lines(table)) {
      return lines
          .map(line -> line.strip().split("\\s+"))
          .filter(words -> words.length > USER)
          .filter(words -> hasPort(words[LOCAL], from) && hasPort(words[REMOTE], to))
          .map(words -> "user " + words[USER])
          .findFirst();
    } catch (IOException none) {
      return Optional.empty();
    }
  }

  private static boolean hasPort(String address, int port) {
    return address.endsWith(String.format(":%04X", port));
  }
}
