package dev.gpush.backends.transport;

import java.nio.file.Path;

/** What speaks ssh: the user's program, or this process. */
public interface SshClient {
  /** Which client it is, and why: for {@code gpush backends --explain}. */
  String explain();

  /**
   * A connection, not opened yet.
   *
   * @param login what {@code gpush login} takes
   * @param socket for this connection only, if it needs one
   */
  SharedConnection connection(Destination destination, String login, Path socket);
}
