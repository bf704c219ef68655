package dev.gpush.backends.transport.openssh;

import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.text.CleanText;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Why OpenSSH could not connect, of what it said; its sentences have not changed in ten years. */
final class Diagnosis {
  private static final int MOST_LINES = 200;
  private static final int MOST_REASON = 300;

  private static final Pattern DENIED =
      Pattern.compile(".*Permission denied \\(([a-z0-9,@.-]*)\\).*");

  /** What a person could give. */
  private static final List<String> PERSONAL = List.of("keyboard-interactive", "password");

  private static final List<String> SILENT =
      List.of(
          "connection timed out",
          "operation timed out",
          "no route to host",
          "network is unreachable",
          "host is down");

  private static final List<String> WITHOUT_MEANING =
      List.of("ssh_askpass:", "warning: permanently added", "control", "mux_client");

  private final String machine;
  private final String login;
  private final List<String> lines;

  private Diagnosis(String machine, String login, List<String> lines) {
    this.machine = machine;
    this.login = login;
    this.lines = lines;
  }

  static MachineFailure of(String machine, String login, String errors) {
    List<String> lines =
        errors
            .lines()
            .limit(MOST_LINES)
            .map(Diagnosis::clean)
            .filter(line -> !line.isEmpty())
            .toList();
    return new Diagnosis(machine, login, lines).failure();
  }

  private MachineFailure failure() {
    Optional<String> changed = line("identification has changed");
    if (changed.isPresent()) {
      return new MachineFailure.HostKeyChanged(machine, keyReason());
    }
    if (line("host key verification failed").isPresent()
        || line("host key is known for").isPresent()) {
      String unknown =
          line("host key is known for").orElse("its host key is in no known_hosts file");
      return new MachineFailure.HostKeyUnknown(machine, login, unknown);
    }
    Optional<MachineFailure> denied = denied();
    if (denied.isPresent()) {
      return denied.get();
    }
    Optional<String> name = line("could not resolve hostname");
    // Where a proxy is between, ssh names the far end like this, and what comes before is the
    // proxy's.
    boolean isBetween =
        line("unknown port 65535").isPresent()
            || line("stdio forwarding failed").isPresent()
            || line("proxy").isPresent();
    if (isBetween) {
      return new MachineFailure.ProxyFailed(machine, reason());
    }
    if (name.isPresent()) {
      return new MachineFailure.UnknownHost(machine, name.get());
    }
    Optional<String> refused = line("connection refused");
    if (refused.isPresent()) {
      return new MachineFailure.Refused(machine, refused.get());
    }
    Optional<String> silent = SILENT.stream().flatMap(words -> line(words).stream()).findFirst();
    return silent.isPresent()
        ? new MachineFailure.Unreachable(machine, silent.get())
        : new MachineFailure.Broken(machine, reason());
  }

  private Optional<MachineFailure> denied() {
    for (String line : lines) {
      Matcher match = DENIED.matcher(line);
      if (match.matches()) {
        List<String> methods = List.of(match.group(1).split(",", -1));
        List<String> personal = methods.stream().filter(PERSONAL::contains).toList();
        return Optional.of(
            personal.isEmpty()
                ? new MachineFailure.KeyRefused(machine, login, line)
                : new MachineFailure.NeedsYou(machine, login, String.join(" or ", personal)));
      }
    }
    return line("too many authentication failures")
        .map(line -> new MachineFailure.KeyRefused(machine, login, line));
  }

  /** Which file and line has the other key, as ssh says it. */
  private String keyReason() {
    return lines.stream()
        .filter(line -> line.toLowerCase(Locale.ROOT).contains("offending"))
        .findFirst()
        .map(line -> line.replaceFirst("(?i)^offending (.*) key in ", "the $1 key it had is in "))
        .orElse("known_hosts has another key for it");
  }

  private Optional<String> line(String words) {
    return lines.stream().filter(line -> line.toLowerCase(Locale.ROOT).contains(words)).findFirst();
  }

  /** The first line that says something. */
  private String reason() {
    return lines.stream()
        .filter(
            line -> WITHOUT_MEANING.stream().noneMatch(line.toLowerCase(Locale.ROOT)::startsWith))
        .findFirst()
        .orElse(lines.isEmpty() ? "ssh ended without a word" : lines.getFirst());
  }

  /** Text from another machine: no control signs, and not endless. */
  static String clean(String text) {
    return CleanText.line(text, MOST_REASON);
  }
}
