package dev.gpush.shell.page;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.session.SessionName;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What a browser shows, beside all sessions.
 *
 * @param session whose nodes and runs are shown
 * @param run of that session, whose output is shown
 * @param usage whether its nodes are sampled
 */
record PageView(Optional<SessionName> session, Optional<Integer> run, boolean usage) {

  /**
   * Reads the part of an address behind the question mark.
   *
   * @throws GpushException it names no session
   * @throws IllegalArgumentException it is malformed
   */
  static PageView parse(String query) {
    Map<String, String> fields = fields(query);
    Optional<SessionName> session =
        Optional.ofNullable(fields.get("session")).map(SessionName::parse);
    return new PageView(
        session,
        Optional.ofNullable(fields.get("run")).filter(_ -> session.isPresent()).map(PageView::run),
        session.isPresent() && fields.containsKey("usage"));
  }

  private static int run(String text) {
    if (!text.matches("[0-9]{1,9}")) {
      throw new IllegalArgumentException("no number of a run");
    }
    return Integer.parseInt(text);
  }

  /** The last one of a name counts. */
  static Map<String, String> fields(String query) {
    return Arrays.stream(query.split("&", -1))
        .map(field -> field.split("=", 2))
        .collect(
            Collectors.toMap(
                field -> field[0],
                field ->
                    field.length == 1 ? "" : URLDecoder.decode(field[1], StandardCharsets.UTF_8),
                (_, last) -> last));
  }
}
