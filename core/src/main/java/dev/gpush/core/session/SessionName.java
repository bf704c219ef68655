package dev.gpush.core.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import java.util.regex.Pattern;

/** The name of a session; it is also a user name and a host name, hence the rule. */
public record SessionName(String text) {
  public static final String RULE =
      "1 to 32 of a-z, 0-9 and '-', starting with a letter, not ending in a dash or a dash and"
          + " digits";

  private static final Pattern SHAPE = Pattern.compile("[a-z][a-z0-9-]{0,31}");
  private static final Pattern NODE_LIKE = Pattern.compile(".*-[0-9]*");

  public SessionName {
    if (!isValid(text)) {
      throw new IllegalArgumentException("not a session name: " + text);
    }
  }

  public static SessionName parse(String text) {
    if (!isValid(text)) {
      throw new GpushException(new UsageFailure.BadValue("session name", text, RULE));
    }
    return new SessionName(text);
  }

  private static boolean isValid(String text) {
    return SHAPE.matcher(text).matches() && !NODE_LIKE.matcher(text).matches();
  }

  @Override
  public String toString() {
    return text;
  }
}
