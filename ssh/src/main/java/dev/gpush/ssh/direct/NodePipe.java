package dev.gpush.ssh.direct;

import dev.gpush.core.json.Json;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A pipe of a program on this machine, opened a second time through a descriptor of its agent.
 * Reading and writing block; {@link #close} ends both.
 */
record NodePipe(FileChannel channel) {
  /** The mode's bits that say what kind of file it is, and those of a pipe. */
  private static final int KIND = 0xF000;

  private static final int PIPE = 0x1000;

  /** In another one the same number is another process. */
  private static final Path SPACE = Path.of("/proc/self/ns/pid");

  /**
   * Opens it.
   *
   * @param told {@code pid} and {@code fd} of the agent, and the {@code space} of its pid
   * @return none when it cannot be opened here, or is no pipe of this user
   */
  static Optional<NodePipe> open(Json.Obj told, OpenOption mode) {
    Path path =
        Path.of(
            "/proc/%d/fd/%d"
                .formatted(told.number("pid").orElse(0L), told.number("fd").orElse(-1L)));
    try {
      boolean isPipe =
          Files.getAttribute(path, "unix:mode") instanceof Integer found && (found & KIND) == PIPE;
      boolean isOwn =
          Files.getAttribute(path, "unix:uid")
              .equals(Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
      boolean isHere =
          told.text("space").equals(Optional.of(Files.readSymbolicLink(SPACE).toString()));
      return isPipe && isOwn && isHere
          ? Optional.of(new NodePipe(FileChannel.open(path, mode)))
          : Optional.empty();
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException noPipe) {
      return Optional.empty();
    }
  }

  void close() {
    try {
      channel.close();
    } catch (IOException gone) {
      // It is closed in any case.
    }
  }
}
