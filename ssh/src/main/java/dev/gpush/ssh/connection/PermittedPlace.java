package dev.gpush.ssh.connection;

import java.util.Locale;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The value of {@code permitopen} or {@code permitlisten}: a host and a port, compared as sshd
 * compares them. Nothing is looked up, so {@code localhost} is not {@code 127.0.0.1}.
 *
 * @param host without brackets
 * @param port empty for any
 */
public record PermittedPlace(String host, OptionalInt port) {
  /** Of each kind; as for sshd. */
  static final int MOST = 4_096;

  /** As for sshd, which has it from the system. */
  private static final int LONGEST_HOST = 1_024;

  private static final String ANY = "*";

  /** Where sshd ends a host: at a colon or slash, for a host in brackets after them. */
  private static final Pattern PARTS =
      Pattern.compile("(\\[[^]]*]|(?!\\[)[^:/]*)[:/](.*)", Pattern.DOTALL);

  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");

  private static final int HIGHEST_PORT = 65_535;

  /**
   * {@code HOST:PORT}.
   *
   * @throws IllegalArgumentException with the reason
   */
  public static PermittedPlace parseOpen(String text) {
    return parse("permitopen", text, text);
  }

  /**
   * {@code [HOST:]PORT}.
   *
   * @throws IllegalArgumentException with the reason
   */
  public static PermittedPlace parseListen(String text) {
    return parse("permitlisten", text, text.contains(":") ? text : ANY + ":" + text);
  }

  private static PermittedPlace parse(String option, String written, String text) {
    Matcher parts = PARTS.matcher(text);
    if (!parts.matches() || parts.group(1).length() > LONGEST_HOST) {
      throw new IllegalArgumentException(option + " is no host with a port: " + written);
    }
    String port = parts.group(2);
    if (!port.equals(ANY) && !isPort(port)) {
      throw new IllegalArgumentException(
          option + " has no port from 1 to " + HIGHEST_PORT + " and no *: " + written);
    }
    String host = parts.group(1);
    return new PermittedPlace(
        host.startsWith("[") ? host.substring(1, host.length() - 1) : host,
        port.equals(ANY) ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(port)));
  }

  private static boolean isPort(String text) {
    return PORT.matcher(text).matches()
        && Integer.parseInt(text) > 0
        && Integer.parseInt(text) <= HIGHEST_PORT;
  }

  /** Whether a connection may go there: the host is the same to the letter, or any. */
  boolean isTarget(String toHost, long toPort) {
    return hasPort(toPort) && (host.equals(ANY) || host.equals(toHost));
  }

  /** Whether a port may be opened there: hosts are compared in small letters, with wildcards. */
  boolean isListener(String atHost, long atPort) {
    String expression = Pattern.quote(host).replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q");
    return hasPort(atPort)
        && Pattern.compile(expression, Pattern.DOTALL)
            .matcher(atHost.toLowerCase(Locale.ROOT))
            .matches();
  }

  private boolean hasPort(long number) {
    return port.isEmpty() || port.getAsInt() == number;
  }

  String text() {
    String shown = host.contains(":") ? "[" + host + "]" : host;
    return shown + ":" + (port.isEmpty() ? ANY : String.valueOf(port.getAsInt()));
  }
}
