package dev.gpush.backends.hosts.local;

import dev.gpush.core.gang.AgentFolder;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.machine.Pipe;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;

/**
 * The socket of an agent on this machine, where the link's specification says it is. Spares the
 * relay: one process, two copies and four switches of task for everything that is sent.
 */
final class NodeSocket {
  /** Where folders of agents are looked for, in this order. */
  static final List<Path> BASES =
      List.of(Path.of("/tmp"), Path.of("/var/tmp"), Path.of("/dev/shm"));

  /** As small as the relay's: what lies in buffers there, nothing urgent can overtake any more. */
  private static final int BUFFER = 131_072;

  private static final int PART = 64 << 10;

  /** A release names what it keeps. */
  private static final int MOST_ANSWER = 4 << 20;

  private final String name;

  private NodeSocket(String name) {
    this.name = name;
  }

  static NodeSocket of(GangId gang, int node) {
    return new NodeSocket(AgentFolder.name(gang, node));
  }

  /** Empty when there is none that surely is ours: the relay finds out why. */
  Optional<Pipe> connect() {
    Optional<Path> folder = folder();
    if (folder.isEmpty()) {
      return Optional.empty();
    }
    try {
      return Optional.of(open(folder.get().resolve("agent.sock")));
    } catch (IOException notThere) {
      return Optional.empty();
    }
  }

  /**
   * Asks the agent one thing, as the loader's control does: one line of JSON there, one back.
   *
   * @return empty when there is none, or it ended meanwhile: the loader finds out
   */
  Optional<Json> ask(Json.Obj question) throws IOException {
    Optional<Pipe> connected = connect();
    if (connected.isEmpty()) {
      return Optional.empty();
    }
    try (Pipe pipe = connected.get()) {
      pipe.input().write((question.write() + "\n").getBytes(StandardCharsets.UTF_8));
      var answer = new ByteArrayOutputStream();
      byte[] part = new byte[PART];
      int read = pipe.output().read(part);
      while (read > 0 && answer.size() <= MOST_ANSWER) {
        answer.write(part, 0, read);
        if (part[read - 1] == '\n') {
          return Optional.of(Json.parse(answer.toString(StandardCharsets.UTF_8)));
        }
        read = pipe.output().read(part);
      }
      return Optional.empty();
    } catch (ClosedByInterruptException stop) {
      throw stop;
    } catch (IOException | JsonSyntaxException ended) {
      return Optional.empty();
    }
  }

  /** Where the agent is, if it is anywhere that only we can use. */
  Optional<Path> folder() {
    for (Path base : BASES) {
      try {
        Path user = base.resolve("gpush-" + Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
        Path folder = user.resolve(name);
        if (isOwn(user) && isOwn(folder)) {
          return Optional.of(folder);
        }
      } catch (IOException notThere) {
        // The next place.
      }
    }
    return Optional.empty();
  }

  /** A folder that only we can use: nobody else can have put a socket there. */
  private static boolean isOwn(Path folder) throws IOException {
    PosixFileAttributes attributes =
        Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    return attributes.isDirectory()
        && attributes.permissions().equals(PosixFilePermissions.fromString("rwx------"))
        && Files.getAttribute(folder, "unix:uid", LinkOption.NOFOLLOW_LINKS)
            .equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
  }

  private static Pipe open(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    boolean isOpen = false;
    try {
      channel.setOption(StandardSocketOptions.SO_SNDBUF, BUFFER);
      channel.setOption(StandardSocketOptions.SO_RCVBUF, BUFFER);
      channel.connect(UnixDomainSocketAddress.of(socket));
      Pipe pipe = new SocketPipe(channel);
      isOpen = true;
      return pipe;
    } finally {
      if (!isOpen) {
        channel.close();
      }
    }
  }
}
