package dev.gpush.core.talk;

/**
 * How long work reports its progress to the user. The caller gives the sentences; the shell decides
 * where and how they appear (terminal, pipe, quiet). Thread-safe.
 */
public interface Talk {
  /** One line for people (stderr). */
  void say(String line);

  /**
   * Something that may take long: shown when it has taken half a second, with the time since. Close
   * it when it is over.
   */
  Step step(String what);

  /** A step that is a phase of a start. {@link TracedTalk} also measures it. */
  default Step phase(Trace.Stage stage, String what) {
    return step(what);
  }

  /** The phases until now, where they are measured. */
  default Trace trace() {
    return Trace.none();
  }

  /**
   * Asks a yes/no question.
   *
   * @param flag the option that answers yes beforehand, when there is no terminal
   * @throws dev.gpush.core.failure.GpushException {@code NobodyToAsk} without a terminal, {@code
   *     Declined} on no
   */
  void confirm(String question, String flag);

  /** Whether nobody reads what is said. */
  default boolean isSilent() {
    return false;
  }

  /**
   * Whether the user has cancelled the command (Ctrl-C). A closed terminal or a lost connection
   * cancels nothing: asked when the command's thread was interrupted, to tell these apart.
   */
  default boolean isCancelled() {
    return false;
  }

  /**
   * Whether the user has answered yes to the questions of this option before they are asked. Work
   * that outlives the command needs this after the command has ended.
   */
  default boolean isAnswered(String flag) {
    return false;
  }

  /** A step that is in progress. */
  interface Step extends AutoCloseable {
    void show(HowFar far);

    /** {@link #show Shows} what cannot be counted. */
    default void detail(String text) {
      show(HowFar.words(text));
    }

    @Override
    void close();
  }

  /** Says nothing and cannot ask. */
  static Talk silent() {
    return new SilentTalk();
  }
}
