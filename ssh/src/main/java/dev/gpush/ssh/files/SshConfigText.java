package dev.gpush.ssh.files;

import dev.gpush.core.text.SshConfigWords;
import dev.gpush.ssh.connection.NodeName;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The configuration for OpenSSH. Every host has its own complete block: OpenSSH cannot route by
 * user name, and editors list only hosts that are written out. Settings of the user for all hosts
 * ({@code ProxyJump}, {@code ControlMaster}) must not apply to a server on the same machine.
 */
record SshConfigText(Path keyFile, Path knownHosts, String alias, Reach reach) {
  private static final String HEAD =
      """
      # Written by gpush; changes are overwritten.
      # gpush link puts an Include of this file into your own; gpush link --remove takes it out.
      """;

  /** How ssh reaches the gateway. */
  sealed interface Reach {}

  /** Through a port; a script of ours starts the gateway before ssh connects. */
  record ByPort(int number, Path wakeScript) implements Reach {}

  /** Through a program of ours, which starts the gateway, too. */
  record ByProxy(Path program) implements Reach {}

  /** From Windows: its programs know double quotes only, and ssh's tokens begin with a percent. */
  record ByWsl(String distribution, Path program) implements Reach {
    String command() {
      return "ProxyCommand wsl.exe -d %s -e /bin/sh \"%s\""
          .formatted(distribution, program.toString().replace("%", "%%"));
    }
  }

  String of(List<NodeName> hosts) {
    if (hosts.isEmpty()) {
      return HEAD;
    }
    return switch (reach) {
      case ByPort(var number, var wakeScript) ->
          HEAD
              + "\n"
              + wake(hosts, wakeScript)
              + blocks(hosts, "Port " + number)
              + withoutProxy(hosts);
      case ByWsl wsl -> HEAD + blocks(hosts, wsl.command());
      case ByProxy(var program) ->
          HEAD
              + blocks(
                  hosts,
                  "ProxyCommand /bin/sh " + SshConfigWords.quoteInProxyCommand(program.toString()));
    };
  }

  private String blocks(List<NodeName> hosts, String reached) {
    return hosts.stream().map(host -> block(host, reached)).collect(Collectors.joining());
  }

  private static String names(List<NodeName> hosts) {
    return hosts.stream().flatMap(host -> host.names().stream()).collect(Collectors.joining(","));
  }

  /**
   * Gives the word {@code none} only to OpenSSH: it ends the search for {@code ProxyCommand} and
   * for {@code ProxyJump}, whatever follows for all hosts. Other readers take {@code none} for a
   * host or a program, in {@code ProxyJump} all readers that were tried, and never connect. The npm
   * package ssh-config, which open-remote-ssh uses, knows no criterion that begins with {@code !}
   * and leaves such a block out; it takes criteria in pairs, so {@code !canonical} would be an
   * error to it. A case-sensitive reader that does read the block does not find {@code
   * ProxyCommand} in it. It stands at the end because the simplest readers do not know Match, and
   * add its lines to the Host above it.
   */
  private static String withoutProxy(List<NodeName> hosts) {
    return """

    # A proxy that you have set for all hosts is not for these.
    Match originalhost %s !originalhost none
      proxycommand none
    """
        .formatted(names(hosts));
  }

  /**
   * Runs before ssh connects, as part of reading this file; it has no settings of its own. Only
   * when the name matches is the script started.
   */
  private static String wake(List<NodeName> hosts, Path wakeScript) {
    return "# Starts the gateway if it is not there.\nMatch originalhost %s exec \"/bin/sh %s\"\n"
        .formatted(names(hosts), SshConfigWords.quoteInCommand(wakeScript.toString()));
  }

  private String block(NodeName host, String reached) {
    return """

    Host %s
      HostName 127.0.0.1
      %s
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
    """
        .formatted(
            String.join(" ", host.names()), reached, host, path(keyFile), alias, path(knownHosts));
  }

  private static String path(Path path) {
    return SshConfigWords.quote(path.toString());
  }
}
