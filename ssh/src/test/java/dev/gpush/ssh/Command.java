package dev.gpush.ssh;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * One program to run, its input given beforehand; output and errors go to files, so nothing blocks.
 */
public final class Command {
  /** Ends a test that hangs; no machine that works is so slow. */
  private static final int LIMIT_SECONDS = 300;

  private final List<String> words;
  private final Path folder;
  private InputStream input = InputStream.nullInputStream();

  Command(List<String> words, Path folder) {
    this.words = words;
    this.folder = folder;
  }

  /** What became of it. */
  record Result(int status, byte[] bytes, String errors) {
    String text() {
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  List<String> words() {
    return words;
  }

  Command input(String text) {
    return input(text.getBytes(StandardCharsets.UTF_8));
  }

  Command input(byte[] bytes) {
    this.input = new ByteArrayInputStream(bytes);
    return this;
  }

  /** Before the program: a shell line that has it as {@code "$@"}. */
  Command inShell(String line) {
    var wrapped = new ArrayList<>(List.of("bash", "-c", line, "bash"));
    wrapped.addAll(words);
    var command = new Command(wrapped, folder);
    command.input = input;
    return command;
  }

  Result run() throws IOException, InterruptedException {
    Path out = Files.createTempFile(folder, "out", "");
    Path err = Files.createTempFile(folder, "err", "");
    Process process =
        new ProcessBuilder(words).redirectOutput(out.toFile()).redirectError(err.toFile()).start();
    try (OutputStream stdin = process.getOutputStream()) {
      input.transferTo(stdin);
    } catch (IOException brokenPipe) {
      // It has ended without reading all.
    }
    if (!process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IllegalStateException(
          "not over after " + LIMIT_SECONDS + " s: " + words + "\n" + Files.readString(err));
    }
    var result = new Result(process.exitValue(), Files.readAllBytes(out), Files.readString(err));
    Files.delete(out);
    Files.delete(err);
    return result;
  }

  /** For conversations. */
  Process start() throws IOException {
    return new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD).start();
  }
}
