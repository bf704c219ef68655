package dev.gpush.gateway.session.history;

import java.io.Serial;

/** The repository of a node stays as it is; the message is a clause that says why. */
final class HistoryStopped extends Exception {
  @Serial private static final long serialVersionUID = 1;

  HistoryStopped(String why) {
    super(why);
  }

  HistoryStopped(String why, Throwable cause) {
    super(why, cause);
  }

  String why() {
    return String.valueOf(getMessage());
  }
}
