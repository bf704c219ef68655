package dev.gpush.launch.run;

import java.util.Locale;
import java.util.Optional;

/** The state of a run, as far as this gateway knows. */
public enum RunState {
  STARTING,
  RUNNING,
  STOPPING,
  DONE,
  FAILED,
  STOPPED,
  /** A supervisor was killed: the end of its ranks is not known. */
  LOST,
  /** The link to a node ended before the run did. */
  UNKNOWN;

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  static RunState parse(String word) {
    for (RunState state : values()) {
      if (state.word().equals(word)) {
        return state;
      }
    }
    return UNKNOWN;
  }

  public boolean isOver() {
    return switch (this) {
      case DONE, FAILED, STOPPED, LOST -> true;
      case STARTING, RUNNING, STOPPING, UNKNOWN -> false;
    };
  }

  static RunState ended(Optional<Integer> exit, boolean isStopped) {
    if (exit.isEmpty()) {
      return LOST;
    }
    if (isStopped) {
      return STOPPED;
    }
    return exit.get() == 0 ? DONE : FAILED;
  }
}
