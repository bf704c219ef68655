package dev.gpush.backends.transport.builtin.config;

import dev.gpush.backends.transport.Destination;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * What the ssh configuration says about one host, with ssh's own defaults.
 *
 * @param values by keyword in small letters
 * @param keys the IdentityFiles, as written
 */
public record HostConfig(
    Destination destination,
    Map<String, String> values,
    List<String> keys,
    Path home,
    String localUser) {
  private static final int SSH_PORT = 22;

  private static final List<String> USUAL_KEYS =
      List.of("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519");

  public HostConfig {
    values = Map.copyOf(values);
    keys = List.copyOf(keys);
  }

  /** Where to connect to. */
  public String hostName() {
    String written = values.getOrDefault("hostname", destination.host());
    return written.replace("%h", destination.host()).replace("%%", "%");
  }

  public int port() {
    return destination.port().orElseGet(() -> number("port").orElse(SSH_PORT));
  }

  private Optional<Integer> number(String keyword) {
    try {
      return Optional.ofNullable(values.get(keyword)).map(Integer::valueOf);
    } catch (NumberFormatException wrong) {
      return Optional.empty();
    }
  }

  public String user() {
    return destination.user().orElseGet(() -> values.getOrDefault("user", localUser));
  }

  /** The hosts between, the first one first; empty when there are none. */
  public List<Destination> jumps() {
    String written = values.getOrDefault("proxyjump", "none");
    if (written.equalsIgnoreCase("none") || wantsProgram()) {
      return List.of();
    }
    var jumps = new ArrayList<Destination>();
    for (String jump : expand(written).split(",", -1)) {
      jumps.add(Destination.parse(jump.strip().replaceFirst("^ssh://", "")));
    }
    return jumps;
  }

  /** Whether the way there is a program: that is for the ssh program. */
  public boolean wantsProgram() {
    return "proxycommand".equals(values.get("way"))
        && !"none".equalsIgnoreCase(values.get("proxycommand"));
  }

  public List<Path> keyFiles() {
    return (keys.isEmpty() ? USUAL_KEYS : keys)
        .stream().filter(key -> !key.equalsIgnoreCase("none")).map(this::path).distinct().toList();
  }

  /** Whether keys of the agent count only where a file names them. */
  public boolean isFilesOnly() {
    return "yes".equalsIgnoreCase(values.get("identitiesonly"));
  }

  /** The socket of the agent. */
  public Optional<Path> agent(Map<String, String> environment) {
    String written = values.getOrDefault("identityagent", "SSH_AUTH_SOCK");
    if (written.equalsIgnoreCase("none")) {
      return Optional.empty();
    }
    if (written.equals("SSH_AUTH_SOCK") || written.startsWith("$")) {
      String variable = written.replaceAll("[${}]", "");
      return Optional.ofNullable(environment.get(variable))
          .filter(path -> !path.isEmpty())
          .map(Path::of);
    }
    return Optional.of(path(written));
  }

  /** Files of host keys; a new one is written to the first. */
  public List<Path> knownHosts() {
    var files = new ArrayList<Path>();
    String own =
        values.getOrDefault("userknownhostsfile", "~/.ssh/known_hosts ~/.ssh/known_hosts2");
    String system =
        values.getOrDefault(
            "globalknownhostsfile", "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2");
    for (String file : (own + " " + system).split(" ", -1)) {
      if (!file.isEmpty() && !file.equalsIgnoreCase("none")) {
        files.add(path(file));
      }
    }
    return files;
  }

  /** The name under which its key is known. */
  public String keyName() {
    String alias = values.get("hostkeyalias");
    if (alias != null) {
      return alias.toLowerCase(Locale.ROOT);
    }
    String name = hostName().toLowerCase(Locale.ROOT);
    return port() == SSH_PORT ? name : "[" + name + "]:" + port();
  }

  public boolean isHashed() {
    return "yes".equalsIgnoreCase(values.get("hashknownhosts"));
  }

  /** What is done about a host key that is not known; a changed one always stops us. */
  public enum Unknown {
    REFUSE,
    ASK,
    ACCEPT
  }

  public Unknown unknown() {
    return switch (values.getOrDefault("stricthostkeychecking", "ask").toLowerCase(Locale.ROOT)) {
      case "accept-new", "no", "off", "false" -> Unknown.ACCEPT;
      case "ask" -> Unknown.ASK;
      default -> Unknown.REFUSE;
    };
  }

  private Path path(String written) {
    return home.resolve(tilde(expand(written), home));
  }

  static Path tilde(String written, Path home) {
    if (written.equals("~") || written.startsWith("~/")) {
      return home.resolve(written.substring(Math.min(2, written.length())));
    }
    return Path.of(written);
  }

  private String expand(String written) {
    var text = new StringBuilder();
    for (int at = 0; at < written.length(); at++) {
      char letter = written.charAt(at);
      if (letter != '%' || at + 1 == written.length()) {
        text.append(letter);
      } else {
        at++;
        text.append(token(written.charAt(at)));
      }
    }
    return text.toString();
  }

  private String token(char letter) {
    return switch (letter) {
      case '%' -> "%";
      case 'd' -> home.toString();
      case 'h' -> hostName();
      case 'k' -> values.getOrDefault("hostkeyalias", destination.host());
      case 'n' -> destination.host();
      case 'p' -> Integer.toString(port());
      case 'r' -> user();
      case 'u' -> localUser;
      default -> "%" + letter;
    };
  }
}
