package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Carries out the loop's lines. */
interface CommandRunner {
  /** A gpush command on the terminal; its exit status. */
  int run(List<String> words);

  /** A gpush command whose output is not shown. */
  Captured ask(List<String> words);

  /** As {@link #ask}, and only if a gateway runs. */
  Optional<Captured> askIfRunning(List<String> words);

  /**
   * A gpush command whose lines are given while they come, only if a gateway runs; returns at its
   * end, or when the thread is interrupted.
   */
  void follow(List<String> words, Consumer<String> lines);

  /** A line for the user's own shell, on the terminal; its exit status. */
  int local(String line);
}
