package dev.gpush.ssh.connection;

import dev.gpush.core.text.CleanText;
import java.util.Locale;
import java.util.Map;

/**
 * What users call an SSH client, from the software version that it sends. Editors that use the
 * system's own ssh are ssh here; the agent finds those by their servers on the node.
 */
public final class ClientName {
  private static final int LONGEST = 40;

  /** A part of the version, in small letters, and the name. */
  private static final Map<String, String> KNOWN =
      Map.of(
          "openssh", "ssh",
          "sshj", "JetBrains",
          "jsch", "JSch",
          "ssh2js", "an editor",
          "putty", "PuTTY",
          "paramiko", "paramiko",
          "asyncssh", "AsyncSSH",
          "dropbear", "dbclient");

  private ClientName() {}

  /** {@code SSH-2.0-OpenSSH_9.9} is ssh; one that is not known has its own name. */
  public static String of(String version) {
    String software = version.replaceFirst("^SSH-[0-9.]+-", "");
    String small = software.toLowerCase(Locale.ROOT);
    String own = software.replaceFirst("[_ ].*", "");
    return KNOWN.entrySet().stream()
        .filter(each -> small.contains(each.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElseGet(() -> own.isEmpty() ? "ssh" : CleanText.line(own, LONGEST));
  }
}
