package dev.gpush.core.talk;

import java.io.InputStream;
import java.io.OutputStream;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The three streams of a command and its terminal, if it has one. Reading {@link #in} starts taking
 * the client's input: a command that never reads leaves it to others.
 */
public interface Streams {
  InputStream in();

  OutputStream out();

  OutputStream err();

  /** The terminal, when standard input and output are one. */
  default Optional<Terminal> terminal() {
    return Optional.empty();
  }

  /**
   * Calls the listener with INT, TERM, HUP, QUIT, and with WINCH when the terminal's size changed;
   * the last listener set wins.
   */
  void onSignal(Consumer<String> listener);

  /** The client's terminal: its type and size now; raw input while a remote terminal has it. */
  interface Terminal {
    String type();

    int columns();

    int rows();

    /** Keys are passed on unprocessed until it is closed. */
    Raw raw();
  }

  /** A terminal that passes on keys unprocessed. */
  interface Raw extends AutoCloseable {
    @Override
    void close();
  }
}
