package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import java.util.List;

/** Where the loop's lines are carried out. */
interface Carrier {
  /** A gpush command on the terminal; its exit status. */
  int run(List<String> words);

  /** A question to gpush that nobody sees. */
  Captured ask(List<String> words);

  /** A line for the user's own shell, on the terminal; its exit status. */
  int local(String line);
}
