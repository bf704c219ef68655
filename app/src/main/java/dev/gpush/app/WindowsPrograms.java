package dev.gpush.app;

import dev.gpush.ssh.files.Wsl;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Programs of Windows, which WSL starts like its own. */
public final class WindowsPrograms implements Wsl.Programs {
  /** What one prints here is a path. */
  private static final int LONGEST = 4_096;

  /** The first one starts a part of Windows. */
  private static final long SECONDS = 30;

  /** The Windows below this system; empty where there is none. */
  public static Optional<Wsl> wsl(Map<String, String> environment) {
    try {
      // A test names another file.
      String version = environment.getOrDefault("GPUSH_KERNEL_VERSION", "/proc/version");
      return Wsl.of(
          Files.readString(Path.of(version)),
          Optional.ofNullable(environment.get("WSL_DISTRO_NAME")),
          new WindowsPrograms());
    } catch (IOException noLinux) {
      return Optional.empty();
    }
  }

  @Override
  public Optional<String> output(List<String> words) {
    try {
      Process process =
          new ProcessBuilder(words)
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      try {
        // A path fits into the pipe; what is silent for ever meets the limit here.
        if (!process.waitFor(SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
          return Optional.empty();
        }
        byte[] printed = process.getInputStream().readNBytes(LONGEST);
        return Optional.of(new String(printed, StandardCharsets.UTF_8).strip());
      } finally {
        process.destroyForcibly();
      }
    } catch (IOException missing) {
      return Optional.empty();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }
}
