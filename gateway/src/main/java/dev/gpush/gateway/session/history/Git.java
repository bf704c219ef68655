package dev.gpush.gateway.session.history;

import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The git of this machine in one work tree. It never asks anything, fetches nothing by itself and
 * runs no hooks.
 */
final class Git {
  private static final int BUFFER = 128 << 10;

  private final Path root;
  private final Tasks tasks;

  Git(Path root, Tasks tasks) {
    this.root = root;
    this.tasks = tasks;
  }

  /** What a command printed, without the last line end. */
  record Result(int status, String out) {
    boolean isGood() {
      return status == 0;
    }

    Optional<String> text() {
      return isGood() && !out.isEmpty() ? Optional.of(out) : Optional.empty();
    }

    List<String> lines() {
      return out.isEmpty() ? List.of() : out.lines().toList();
    }
  }

  /** Runs a command that may fail. */
  Result run(String... words) throws HistoryStopped, InterruptedException {
    return run("", List.of(words));
  }

  Result run(String given, List<String> words) throws HistoryStopped, InterruptedException {
    byte[] input = given.getBytes(StandardCharsets.UTF_8);
    var out = new ByteArrayOutputStream();
    int status = stream(words, to -> to.write(input), from -> from.transferTo(out));
    return new Result(status, out.toString(StandardCharsets.UTF_8).replaceFirst("\\n+$", ""));
  }

  /** Runs a command that has to succeed. */
  List<String> lines(String given, String... words) throws HistoryStopped, InterruptedException {
    Result result = run(given, List.of(words));
    if (!result.isGood()) {
      throw new HistoryStopped("git " + words[0] + " failed here, status " + result.status());
    }
    return result.lines();
  }

  /** One end of a process. */
  @FunctionalInterface
  interface Use<S> {
    void with(S stream) throws IOException;
  }

  /** Runs a command with both of its ends in use at once; its status. */
  int stream(List<String> words, Use<OutputStream> input, Use<InputStream> output)
      throws HistoryStopped, InterruptedException {
    Process process = start(words);
    // Its end closes the pipes: until then its reader cannot be interrupted.
    try (Tasks both = tasks.group("git");
        Closeable _ = process::destroyForcibly) {
      Task<Boolean, IOException> in =
          both.forkOnThread(
              "git in",
              () -> {
                try (OutputStream to = process.getOutputStream()) {
                  input.with(to);
                }
                return true;
              });
      Task<Boolean, IOException> out =
          both.forkOnThread(
              "git out",
              () -> {
                output.with(process.getInputStream());
                return true;
              });
      out.get();
      int status = process.waitFor();
      if (status == 0) {
        in.get();
      }
      return status;
    } catch (IOException broken) {
      throw new HistoryStopped(
          "git " + words.getFirst() + " broke off: " + broken.getMessage(), broken);
    }
  }

  private Process start(List<String> words) throws HistoryStopped {
    var command =
        new ArrayList<>(
            List.of(
                "git", "-C", root.toString(), "-c", "gc.auto=0", "-c", "core.hooksPath=/dev/null"));
    command.addAll(words);
    var builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD);
    builder
        .environment()
        .keySet()
        .removeIf(name -> name.startsWith("GIT_") && isOfOneCommand(name));
    builder.environment().put("LC_ALL", "C.UTF-8");
    builder.environment().put("GIT_TERMINAL_PROMPT", "0");
    builder.environment().put("GIT_OPTIONAL_LOCKS", "0");
    builder.environment().put("GIT_NO_LAZY_FETCH", "1");
    try {
      return builder.start();
    } catch (IOException absent) {
      throw new HistoryStopped("this machine has no git", absent);
    }
  }

  /** Variables that say where the settings are stay. */
  private static boolean isOfOneCommand(String name) {
    return !name.startsWith("GIT_CONFIG_") && !name.startsWith("GIT_SSL_");
  }

  /** Copies everything. */
  static void copy(InputStream from, OutputStream to) throws IOException {
    byte[] buffer = new byte[BUFFER];
    for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
      to.write(buffer, 0, count);
    }
    to.flush();
  }
}
