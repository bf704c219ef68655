package dev.gpush.shell.command.call;

import java.util.List;

/** A parsed command. */
public interface Action {
  /** Does it; the exit status. */
  int run(Call call) throws InterruptedException;

  /** A command whose options end at the first word: this word and all after it, untouched. */
  interface OfWords extends Action {
    void words(List<String> words);
  }
}
