package dev.gpush.link.agent;

import dev.gpush.core.json.Json;
import dev.gpush.core.session.Holder;
import dev.gpush.core.text.CleanText;

/**
 * Who holds a lock, in words, from the label in the lock file: {@code ann, session devbox on vm
 * (process 4711)}. Another user's agent wrote it, so it may be anything.
 */
final class LockHolder {
  private static final String UNKNOWN = "another process";

  /** Enough for a name. */
  private static final int MOST = 80;

  private LockHolder() {}

  static String words(Json label) {
    String owner = field(label, "owner");
    String holder = new Holder(label.text("holder").orElse("")).words();
    String who = owner.isEmpty() ? cleaned(holder) : owner;
    String session = field(label, "name");
    String host = field(label, "host");
    return (who.isEmpty() ? UNKNOWN : who)
        + (session.isEmpty() ? "" : ", session " + session)
        + (host.isEmpty() ? "" : " on " + host)
        + label.number("pid").map(pid -> " (process " + pid + ")").orElse("");
  }

  private static String field(Json label, String key) {
    return cleaned(label.text(key).orElse(""));
  }

  private static String cleaned(String text) {
    return CleanText.line(text, MOST);
  }
}
