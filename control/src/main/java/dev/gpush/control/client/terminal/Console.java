package dev.gpush.control.client.terminal;

import dev.gpush.control.wire.Facts;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** The client's own streams and terminal, to which a request is relayed. */
public interface Console {
  /** What the streams are now. */
  Facts facts();

  OutputStream out();

  OutputStream err();

  /**
   * Waits for input and gives the count, -1 at the end. Called on its own thread, only while the
   * command wants input; that thread is interrupted when the request is over, after which nothing
   * more may be read from the input.
   */
  int read(byte[] buffer, int length) throws IOException;

  /**
   * Keys come unprocessed (on) or as the terminal had them before (off). Off is also done when the
   * request ends.
   */
  void raw(boolean on);

  /**
   * Shows the question and gives the line; empty when there is no terminal. Interrupted when the
   * request is over.
   */
  Optional<String> ask(String question, boolean hidden);

  /**
   * Runs a program on these streams and gives its exit status; 127 when it cannot be started, after
   * saying why.
   */
  int spawn(List<String> command, Map<String, String> environment);

  /** Calls with INT, TERM, HUP, WINCH and, in the interactive shell, TSTP until closed. */
  Signals listen(Consumer<String> listener);

  /** The user pressed Ctrl-C repeatedly: ends the process if it runs only for this request. */
  void giveUp();

  /** Signals being listened to. */
  interface Signals extends AutoCloseable {
    @Override
    void close();
  }
}
