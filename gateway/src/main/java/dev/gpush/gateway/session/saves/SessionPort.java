package dev.gpush.gateway.session.saves;

import java.time.Duration;
import java.util.Optional;

/** What a session says to the part of it that sends saves. Thread-safe. */
public interface SessionPort {
  /** Closing it lets commands go on. */
  interface Turn extends AutoCloseable {
    @Override
    void close();
  }

  /** Why nothing may be sent at all now: no links, another gateway's, nothing was sent yet. */
  Optional<String> closed();

  /** The turn of the session, so that no command launches meanwhile; empty while one has it. */
  Optional<Turn> tryBegin();

  /** Waits until the turn may be free. */
  void awaitTurn(Duration limit);

  /**
   * The run that saves wait for, as in {@code run 7 on G41}; only while the caller has the turn.
   */
  Optional<String> holdingRun();

  /**
   * Tells the nodes that a person has done something with the files: they are not idle.
   *
   * @return whether one could be told
   */
  boolean used() throws InterruptedException;

  /** What users see of its files may be something else now. */
  void changed();

  /** A node is lost for good. */
  boolean isLost(int node);
}
