package dev.gpush.control.server;

import dev.gpush.control.wire.Facts;
import dev.gpush.core.talk.Streams;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A command that a client asked for, and the client's streams and terminal. {@link #out}, {@link
 * #err} and {@link #in} throw {@link java.io.IOException} once the client is gone. Signals without
 * a listener interrupt the handler's thread (INT, TERM, HUP).
 */
public interface Invocation extends Streams {
  /** The words after {@code gpush}. */
  List<String> arguments();

  /** The client's current folder. */
  Path folder();

  /** All of the client's variables; the caller selects. */
  Map<String, String> environment();

  /** What each stream is, the terminal's size now, and its colours. */
  Facts facts();

  /**
   * Asks the user and waits for the line; empty when there is no terminal to ask on: standard input
   * or error is none, or it ended.
   *
   * @param hidden what is typed is not shown
   */
  Optional<String> ask(String question, boolean hidden) throws InterruptedException;

  /**
   * Has the client run a program on its own terminal, streams and folder, and gives its exit status
   * (128 + n when signal n ended it, 127 when it could not be started). Only while nothing else
   * reads the input.
   *
   * @param environment what to set beside the client's own variables
   */
  int spawn(List<String> command, Map<String, String> environment) throws InterruptedException;

  /**
   * Calls the listener when the user presses Ctrl-Z in the interactive shell, which cannot be
   * suspended alone; without one nothing happens. The last listener set wins.
   */
  void onDetach(Runnable listener);

  /**
   * Whether the user has pressed Ctrl-C. TERM, HUP and a lost connection also interrupt a handler
   * but cancel nothing: closing a terminal does not mean that the user cancels.
   */
  boolean isCancelled();

  /**
   * From now on it only watches, for as long as its client lives: it keeps no gateway in use, and
   * one that ends does not wait for it.
   */
  void onlyWatches();

  /** Whether the client is still there. */
  boolean isConnected();
}
