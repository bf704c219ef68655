package dev.gpush.control.client.terminal;

import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The modes and the size of the controlling terminal, through {@code stty}: the JDK has no call for
 * them, and every system has it.
 */
public final class Stty {
  private static final File TERMINAL = new File("/dev/tty");

  // guarded by this: what to go back to; empty while the terminal is as we found it
  private String saved = "";

  /** Every key arrives at once, without echo, and Ctrl-C is an ordinary key. */
  public synchronized void raw() {
    change("raw", "-echo");
  }

  /** What is typed is not shown. */
  public synchronized void hidden() {
    change("-echo");
  }

  /** The terminal as it was before the first change. */
  public synchronized void restore() {
    if (!saved.isEmpty()) {
      String before = saved;
      saved = "";
      run(List.of(before));
    }
  }

  /** Columns and rows now. */
  public Optional<int[]> size() {
    String[] words = run(List.of("size")).strip().split(" ", -1);
    if (words.length != 2) {
      return Optional.empty();
    }
    try {
      return Optional.of(new int[] {Integer.parseInt(words[1]), Integer.parseInt(words[0])});
    } catch (NumberFormatException noSize) {
      return Optional.empty();
    }
  }

  private void change(String... modes) {
    if (saved.isEmpty()) {
      saved = run(List.of("-g")).strip();
    }
    if (!saved.isEmpty()) {
      run(List.of(modes));
    }
  }

  /**
   * What stty printed; nothing when there is no terminal or no stty, and then there is nothing to
   * change either.
   */
  private static String run(List<String> arguments) {
    var command = new ArrayList<String>();
    command.add("stty");
    command.addAll(arguments);
    boolean interrupted =
        Thread.interrupted(); // Restoring must work on a thread that is told to stop.
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectInput(Redirect.from(TERMINAL))
              .redirectError(Redirect.DISCARD)
              .start();
      byte[] said = process.getInputStream().readAllBytes();
      process.waitFor();
      return process.exitValue() == 0 ? new String(said, StandardCharsets.UTF_8) : "";
    } catch (IOException noTerminal) {
      return "";
    } catch (InterruptedException stop) {
      interrupted = true;
      return "";
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
