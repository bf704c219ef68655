package dev.gpush.core.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A port as users name it: {@code 8888} of node 0, {@code 1:8888}, or {@code all:8888}.
 *
 * @param node empty: every node
 */
public record PortTarget(Optional<Integer> node, int port) {
  /** What {@link #parse} accepts, as the end of "must be …". */
  public static final String RULE = "PORT, NODE:PORT or all:PORT, with ports from 1 to 65535";

  /** The form alone: any number of five digits matches. */
  public static final Pattern FORM = Pattern.compile("(?:(all|\\d{1,4}):)?(\\d{1,5})");

  public static final int LAST_PORT = 65_535;

  /** Empty when the text is none. */
  public static Optional<PortTarget> of(String text) {
    Matcher parts = FORM.matcher(text);
    if (!parts.matches()) {
      return Optional.empty();
    }
    int port = Integer.parseInt(parts.group(2));
    Optional<String> node = Optional.ofNullable(parts.group(1));
    return port < 1 || port > LAST_PORT
        ? Optional.empty()
        : Optional.of(new PortTarget(node.isEmpty() ? Optional.of(0) : number(node.get()), port));
  }

  /** As {@link #of}; the failure names what the text is a value of. */
  public static PortTarget parse(String what, String text) {
    return of(text)
        .orElseThrow(() -> new GpushException(new UsageFailure.BadValue(what, text, RULE)));
  }

  private static Optional<Integer> number(String node) {
    return node.equals("all") ? Optional.empty() : Optional.of(Integer.valueOf(node));
  }
}
