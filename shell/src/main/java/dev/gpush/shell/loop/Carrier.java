package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import java.util.List;

/** Carries out the loop's lines. */
interface Carrier {
  /** A gpush command on the terminal; its exit status. */
  int run(List<String> words);

  /** A gpush command whose output is not shown. */
  Captured ask(List<String> words);

  /** A line for the user's own shell, on the terminal; its exit status. */
  int local(String line);
}
