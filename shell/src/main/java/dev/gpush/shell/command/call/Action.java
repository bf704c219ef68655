package dev.gpush.shell.command.call;

import java.util.List;

/** A parsed command. */
public interface Action {
  /** Carries it out and returns the exit status. */
  int run(Call call) throws InterruptedException;

  /** Whether {@code --json} is one of its options. */
  default boolean hasJson() {
    return true;
  }

  /** A command whose options end at the first word: that word and all after it are unchanged. */
  interface OfWords extends Action {
    void words(List<String> words);
  }
}
