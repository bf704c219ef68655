package dev.gpush.app;

import dev.gpush.core.file.WholeFile;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.CopyProgram;
import dev.gpush.link.agent.AgentArchive;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** The program of {@code gpush cp}: the agent's own modules for copies, in a file in the home. */
public final class CopyFile implements CopyProgram {
  private static final List<String> PACKAGES = List.of("copies", "files", "core");

  private final Path file;
  private final Json.Obj place;

  /**
   * @param launcher the command that starts gpush
   */
  public CopyFile(Path home, Path socket, String build, String launcher) {
    this.file = home.resolve("copy.pyz");
    this.place =
        Json.object(
            "socket", socket.toString(),
            "home", home.toString(),
            "build", build,
            "launcher", List.of(launcher));
  }

  @Override
  public Path file() {
    byte[] wanted = AgentArchive.of(PACKAGES, "copies/near");
    try {
      if (!Files.exists(file) || !Arrays.equals(Files.readAllBytes(file), wanted)) {
        WholeFile.write(file, wanted, "rw-------");
      }
      return file;
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  @Override
  public Json.Obj place() {
    return place;
  }
}
