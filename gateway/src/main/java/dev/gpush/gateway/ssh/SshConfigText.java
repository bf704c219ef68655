package dev.gpush.gateway.ssh;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What OpenSSH reads. Every host has a block of its own with everything in it: OpenSSH cannot route
 * by user name, and editors list only hosts that are written out. What a person has set for all
 * hosts ({@code ProxyJump}, {@code ControlMaster}) must not apply to a server on the same machine.
 */
record SshConfigText(Path keyFile, Path knownHosts, Path wakeScript, String alias, int port) {
  private static final String HEAD =
      """
      # Written by gpush; changes are overwritten.
      # gpush link puts an Include of this file into your own; gpush link --remove takes it out.
      """;

  /**
   * A shell's words for one single quote. The usual ones need a backslash or double quotes, and
   * what ssh makes of these inside its own double quotes changed with its versions.
   */
  private static final String QUOTE = "$(awk -v f=%%c 'BEGIN{printf(f,39)}')";

  String of(List<NodeName> hosts) {
    return hosts.isEmpty()
        ? HEAD
        : HEAD + "\n" + wake(hosts) + hosts.stream().map(this::block).collect(Collectors.joining());
  }

  /**
   * Runs before ssh connects, as part of reading this file; it has no settings of its own. Only
   * when the name matches is the script started.
   */
  private String wake(List<NodeName> hosts) {
    String names =
        hosts.stream().flatMap(host -> host.names().stream()).collect(Collectors.joining(","));
    return "# Starts the gateway if it is not there.\nMatch originalhost %s exec \"/bin/sh %s\"\n"
        .formatted(names, word(wakeScript));
  }

  /** One word for the shell that ssh calls. */
  private static String word(Path path) {
    return "'" + path.toString().replace("%", "%%").replace("'", "'" + QUOTE + "'") + "'";
  }

  private String block(NodeName host) {
    return """

    Host %s
      HostName 127.0.0.1
      Port %d
      User %s
      IdentityFile %s
      IdentitiesOnly yes
      PreferredAuthentications publickey
      HostKeyAlias %s
      UserKnownHostsFile %s
      StrictHostKeyChecking yes
      HostKeyAlgorithms ssh-ed25519
      UpdateHostKeys no
      CheckHostIP no
      Ciphers ^aes128-gcm@openssh.com
      Compression no
      ServerAliveInterval 15
      ServerAliveCountMax 40
      SendEnv LANG LC_* COLORTERM TERM_PROGRAM
      ForwardAgent no
      ForwardX11 no
      ControlMaster no
      ControlPath none
      ProxyJump none
      ProxyCommand none
    """
        .formatted(
            String.join(" ", host.names()), port, host, path(keyFile), alias, path(knownHosts));
  }

  private static String path(Path path) {
    return "\"" + path.toString().replace("%", "%%") + "\"";
  }
}
