package dev.gpush.backends.transport;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where to, in the user's words: a Host of the ssh configuration or a name of the network, with
 * what is to be other than the configuration says.
 */
public record Destination(String host, Optional<String> user, Optional<Integer> port) {
  private static final Pattern RULE =
      Pattern.compile("(?:([^@\\s]+)@)?(\\[[0-9A-Fa-f:.%a-z]+]|[^:\\s\\[\\]]+)(?::([0-9]{1,5}))?");

  /** What ssh and the shells between take as it is; a dash in front would be an option. */
  private static final Pattern HOST =
      Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:%-]{0,254}|[0-9A-Fa-f:]+");

  private static final Pattern USER = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.+\\\\@-]{0,127}");

  private static final int MOST_PORT = 65535;

  public Destination {
    if (!HOST.matcher(host).matches()) {
      throw new IllegalArgumentException("a host is letters, digits, dots and dashes, not " + host);
    }
    if (user.isPresent() && !USER.matcher(user.get()).matches()) {
      throw new IllegalArgumentException(
          "a user is letters, digits, dots and dashes, not " + user.get());
    }
    if (port.isPresent() && (port.get() < 1 || port.get() > MOST_PORT)) {
      throw new IllegalArgumentException("a port is 1 to 65535, not " + port.get());
    }
  }

  /** {@code [user@]host[:port]}; an IPv6 address with a port is in brackets. */
  public static Destination parse(String text) {
    Matcher match = RULE.matcher(text);
    if (!match.matches()) {
      throw new IllegalArgumentException("a machine is [USER@]HOST[:PORT], not " + text);
    }
    String host = match.group(2).replaceAll("[\\[\\]]", "");
    return new Destination(
        host,
        Optional.ofNullable(match.group(1)),
        Optional.ofNullable(match.group(3)).map(Integer::valueOf));
  }

  @Override
  public String toString() {
    String plain = host.contains(":") ? "[" + host + "]" : host;
    return user.map(name -> name + "@").orElse("")
        + plain
        + port.map(number -> ":" + number).orElse("");
  }
}
