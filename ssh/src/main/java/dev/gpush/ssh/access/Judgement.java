package dev.gpush.ssh.access;

import dev.gpush.ssh.connection.Login;

/** Whether a key may log in. */
sealed interface Judgement {
  record Accepted(Login login) implements Judgement {}

  /** The reason is for the log and for connections that end; clients that log in get none. */
  record Refused(String because) implements Judgement {}

  /** A file cannot be read. Nobody new may log in; connections that are open stay. */
  record Unknown(String because) implements Judgement {}
}
