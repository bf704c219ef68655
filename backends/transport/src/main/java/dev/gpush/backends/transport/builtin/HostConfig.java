package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.IncludedFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the ssh configuration says about one host, with ssh's own defaults.
 *
 * @param values by keyword in small letters
 * @param keys the IdentityFiles, as written
 */
record HostConfig(
    Destination destination,
    Map<String, String> values,
    List<String> keys,
    Path home,
    String localUser) {
  private static final int SSH_PORT = 22;

  private static final Pattern TOKEN = Pattern.compile("%.");

  private static final List<String> USUAL_KEYS =
      List.of("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519");

  HostConfig {
    values = Map.copyOf(values);
    keys = List.copyOf(keys);
  }

  String name() {
    return destination.toString();
  }

  /** Where to connect to. */
  String hostName() {
    String written = values.getOrDefault("hostname", destination.host());
    return written.replace("%h", destination.host()).replace("%%", "%");
  }

  int port() {
    try {
      String written = values.getOrDefault("port", String.valueOf(SSH_PORT));
      return destination.port().orElseGet(() -> Integer.valueOf(written));
    } catch (NumberFormatException wrong) {
      return SSH_PORT;
    }
  }

  String user() {
    return destination.user().orElseGet(() -> values.getOrDefault("user", localUser));
  }

  /**
   * The host between, if there is one.
   *
   * @throws dev.gpush.core.failure.GpushException if there are several
   */
  Optional<Destination> jump() {
    String written = expand(values.getOrDefault("proxyjump", "none"));
    if (written.equalsIgnoreCase("none")) {
      return Optional.empty();
    }
    try {
      Destination jump = Destination.parse(written.replaceFirst("^ssh://", ""));
      // Host * with a ProxyJump is about the host between too; ssh sees through that as well.
      return Optional.of(jump).filter(host -> !host.host().equals(destination.host()));
    } catch (IllegalArgumentException several) {
      throw SshConfig.needsOpenSsh(destination, "ProxyJump " + written);
    }
  }

  List<Path> keyFiles() {
    return (keys.isEmpty() ? USUAL_KEYS : keys)
        .stream().filter(key -> !key.equalsIgnoreCase("none")).map(this::path).distinct().toList();
  }

  /** Whether keys of the agent count only where a file names them. */
  boolean isFilesOnly() {
    return values.getOrDefault("identitiesonly", "no").equalsIgnoreCase("yes");
  }

  /** The socket of the agent. */
  Optional<Path> agent(Map<String, String> environment) {
    String written = values.getOrDefault("identityagent", "SSH_AUTH_SOCK");
    if (written.equalsIgnoreCase("none")) {
      return Optional.empty();
    }
    if (written.equals("SSH_AUTH_SOCK")) {
      return Optional.of(environment.getOrDefault(written, ""))
          .filter(path -> !path.isEmpty())
          .map(Path::of);
    }
    return Optional.of(path(written));
  }

  /** Files of host keys; a new one is written to the first. */
  List<Path> knownHosts() {
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
  String keyName() {
    Optional<String> alias = Optional.ofNullable(values.get("hostkeyalias"));
    String plain = hostName();
    String name = port() == SSH_PORT ? plain : "[" + plain + "]:" + port();
    return alias.orElse(name).toLowerCase(Locale.ROOT);
  }

  /** Whether the user may be asked about a key that is not known. */
  boolean asksAboutKeys() {
    return !values.getOrDefault("stricthostkeychecking", "ask").equalsIgnoreCase("yes");
  }

  private Path path(String written) {
    return home.resolve(IncludedFiles.tilde(expand(written), home));
  }

  private String expand(String written) {
    Map<String, String> tokens =
        Map.of(
            "%%", "%",
            "%d", home.toString(),
            "%h", hostName(),
            "%n", destination.host(),
            "%p", String.valueOf(port()),
            "%r", user(),
            "%u", localUser);
    return TOKEN
        .matcher(written)
        .replaceAll(
            found -> Matcher.quoteReplacement(tokens.getOrDefault(found.group(), found.group())));
  }
}
