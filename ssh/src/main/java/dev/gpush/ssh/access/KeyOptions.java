package dev.gpush.ssh.access;

import dev.gpush.ssh.connection.Forwarding;
import dev.gpush.ssh.connection.Permissions;
import dev.gpush.ssh.connection.PermittedPlace;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.ResolverStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * The options before a key in an {@code authorized_keys} file. An option that limits the key in a
 * way that is not supported makes the whole line invalid: a key must never get more than was
 * written.
 *
 * @param principals of a {@code cert-authority}; empty when the line names none
 */
record KeyOptions(
    boolean isAuthority,
    Permissions permissions,
    Optional<String> from,
    Optional<Instant> expires,
    Set<String> principals) {
  static final KeyOptions NONE =
      new KeyOptions(false, Permissions.ALL, Optional.empty(), Optional.empty(), Set.of());

  /** They allow or forbid what gpush does not have at all. */
  private static final Set<String> WITHOUT_EFFECT =
      Set.of("x11-forwarding", "no-x11-forwarding", "user-rc", "no-user-rc");

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("uuuuMMddHHmmss", Locale.ROOT)
          .withResolverStyle(ResolverStyle.STRICT);

  KeyOptions {
    principals = Set.copyOf(principals);
  }

  /**
   * @throws IllegalArgumentException with the reason
   */
  static KeyOptions parse(String text) {
    KeyOptions options = NONE;
    for (String option : split(text)) {
      int equals = option.indexOf('=');
      String name = (equals < 0 ? option : option.substring(0, equals)).toLowerCase(Locale.ROOT);
      options =
          equals < 0
              ? options.withFlag(name)
              : options.withValue(name, unquoted(option.substring(equals + 1)));
    }
    return options;
  }

  private KeyOptions withFlag(String name) {
    return switch (name) {
      case "cert-authority" -> new KeyOptions(true, permissions, from, expires, principals);
      case "restrict" -> with(Permissions.NONE.and(permissions));
      case "pty", "no-pty" -> with(permissions.withTerminals(isAllowed(name)));
      case "port-forwarding", "no-port-forwarding" ->
          with(permissions.forwarding().withAllowed(isAllowed(name)));
      case "agent-forwarding", "no-agent-forwarding" ->
          with(permissions.withAgents(isAllowed(name)));
      default -> {
        if (!WITHOUT_EFFECT.contains(name)) {
          throw new IllegalArgumentException("the option " + name + " is not supported");
        }
        yield this;
      }
    };
  }

  private KeyOptions withValue(String name, String value) {
    return switch (name) {
      case "command" -> with(permissions.withCommand(value));
      case "permitopen" -> with(permissions.forwarding().withOpen(PermittedPlace.parseOpen(value)));
      case "permitlisten" ->
          with(permissions.forwarding().withListen(PermittedPlace.parseListen(value)));
      case "from" ->
          new KeyOptions(isAuthority, permissions, Optional.of(value), expires, principals);
      case "expiry-time" ->
          new KeyOptions(isAuthority, permissions, from, Optional.of(time(value)), principals);
      case "principals" ->
          new KeyOptions(
              isAuthority, permissions, from, expires, Set.copyOf(List.of(value.split(",", -1))));
      default -> throw new IllegalArgumentException("the option " + name + " is not supported");
    };
  }

  private KeyOptions with(Permissions other) {
    return new KeyOptions(isAuthority, other, from, expires, principals);
  }

  private KeyOptions with(Forwarding forwarding) {
    return with(permissions.withForwarding(forwarding));
  }

  private static boolean isAllowed(String name) {
    return !name.startsWith("no-");
  }

  /** {@code 20261224}, {@code 202612241800} or with seconds; in UTC with a Z at the end. */
  private static Instant time(String value) {
    boolean isUtc = value.endsWith("Z");
    String digits = isUtc ? value.substring(0, value.length() - 1) : value;
    try {
      if (!Set.of(8, 12, 14).contains(digits.length())) {
        throw new DateTimeException("length");
      }
      String whole = digits + "0".repeat(14 - digits.length());
      return LocalDateTime.parse(whole, TIME)
          .atZone(isUtc ? ZoneOffset.UTC : ZoneId.systemDefault())
          .toInstant();
    } catch (DateTimeException wrong) {
      throw new IllegalArgumentException("expiry-time is not a time: " + value, wrong);
    }
  }

  /** At commas outside quotes. */
  private static List<String> split(String text) {
    var options = new ArrayList<String>();
    var option = new StringBuilder();
    boolean isQuoted = false;
    for (int i = 0; i < text.length(); i++) {
      char next = text.charAt(i);
      if (next == ',' && !isQuoted) {
        options.add(option.toString());
        option.setLength(0);
        continue;
      }
      option.append(next);
      if (next == '\\' && isQuoted && i + 1 < text.length()) {
        i++;
        option.append(text.charAt(i));
      } else if (next == '"') {
        isQuoted = !isQuoted;
      }
    }
    options.add(option.toString());
    return options;
  }

  private static String unquoted(String value) {
    if (value.length() < 2 || !value.startsWith("\"") || !value.endsWith("\"")) {
      throw new IllegalArgumentException("a value without quotes: " + value);
    }
    return value.substring(1, value.length() - 1).replace("\\\"", "\"");
  }
}
