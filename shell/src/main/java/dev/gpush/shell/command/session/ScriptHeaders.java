package dev.gpush.shell.command.session;

import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.session.BatchHeaders;
import dev.gpush.shell.command.call.Call;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/** The {@code #SBATCH} lines of a script that a command names. */
public final class ScriptHeaders {
  /** Slurm accepts 4 MB, but no script that is written by hand is as long. */
  private static final long MAX_SCRIPT = 1_000_000;

  private ScriptHeaders() {}

  /** Reads them, and reports what they ask for and which have no effect. */
  public static BatchHeaders read(Call call, String file) {
    BatchHeaders headers = call.services().scripts().read(file, text(call, file));
    call.say(
        file
            + ": "
            + (headers.words().isEmpty() ? "nothing for gpush" : headers.words())
            + natives(headers));
    headers.unused().forEach(option -> call.say("not used: " + option));
    return headers;
  }

  /** Whether it is a file of this machine that has such lines. */
  public static boolean areIn(Call call, String file) {
    try {
      Path path = call.folder().resolve(file);
      return Files.isRegularFile(path)
          && Files.size(path) <= MAX_SCRIPT
          && new String(Files.readAllBytes(path), StandardCharsets.UTF_8)
              .lines()
              .takeWhile(line -> line.isBlank() || line.startsWith("#"))
              .anyMatch(line -> line.startsWith("#SBATCH"));
    } catch (IOException | InvalidPathException unreadable) {
      return false;
    }
  }

  private static String natives(BatchHeaders headers) {
    List<String> others =
        headers.natives().stream().filter(option -> !option.startsWith("--time=")).toList();
    return others.isEmpty() ? "" : "; for Slurm: " + String.join(" ", others);
  }

  private static String text(Call call, String file) {
    Path path = call.folder().resolve(file);
    try {
      if (!Files.isRegularFile(path)) {
        throw new GpushException(
            new UsageFailure.BadValue(
                "SCRIPT", file, "a file with #SBATCH lines; -s names a session"));
      }
      if (Files.size(path) > MAX_SCRIPT) {
        throw new GpushException(
            new UsageFailure.BadValue("SCRIPT", file, "a batch script of at most 1 MB"));
      }
      // The headers must be readable text; the rest may be in any encoding.
      return new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new GpushException(
          new ConfigFailure.Unreadable(file, FileReason.of(unreadable)), unreadable);
    }
  }
}
