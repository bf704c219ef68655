package dev.gpush.gateway.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.session.SessionName;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SshConfigTextTest {
  @TempDir private Path folder;

  private static final Path HOME = Path.of("/home/a person/100%");

  private final SshConfigText text =
      new SshConfigText(
          HOME.resolve("keys/id_ed25519"),
          HOME.resolve("known_hosts"),
          HOME.resolve("ssh_wake"),
          "gpush-0123456789ab",
          24_680);

  @Test
  void hasABlockForEveryNode() {
    var hosts = new PublishedSession(SessionName.parse("devbox"), 2).hosts();

    assertEquals(
        """
        # Written by gpush; changes are overwritten.
        # gpush link puts an Include of this file into your own; gpush link --remove takes it out.

        # Starts the gateway if it is not there.
        Match originalhost devbox,devbox-0,devbox-1 exec "/bin/sh '/home/a person/100%%/ssh_wake'"

        Host devbox devbox-0
          HostName 127.0.0.1
          Port 24680
          User devbox
          IdentityFile "/home/a person/100%%/keys/id_ed25519"
          IdentitiesOnly yes
          PreferredAuthentications publickey
          HostKeyAlias gpush-0123456789ab
          UserKnownHostsFile "/home/a person/100%%/known_hosts"
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

        Host devbox-1
          HostName 127.0.0.1
          Port 24680
          User devbox-1
          IdentityFile "/home/a person/100%%/keys/id_ed25519"
          IdentitiesOnly yes
          PreferredAuthentications publickey
          HostKeyAlias gpush-0123456789ab
          UserKnownHostsFile "/home/a person/100%%/known_hosts"
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
        """,
        text.of(hosts));
  }

  @Test
  void isOnlyAHeadWithoutSessions() {
    assertEquals(
        """
        # Written by gpush; changes are overwritten.
        # gpush link puts an Include of this file into your own; gpush link --remove takes it out.
        """,
        text.of(List.of()));
  }

  @Test
  void wakesAlsoInAHomeWithAQuoteAsSshReadsIt() throws Exception {
    Path home = Files.createDirectories(folder.resolve("o'brien's 100%"));
    Path woken = home.resolve("woken");
    Path script = Files.writeString(home.resolve("ssh_wake"), ": > \"${0%/*}/woken\"\n");
    var hosts = new PublishedSession(SessionName.parse("devbox"), 1).hosts();
    Path key = home.resolve("id");
    String config = new SshConfigText(key, home.resolve("known"), script, "a", 1).of(hosts);
    Path file = Files.writeString(folder.resolve("config"), config);

    Process ssh = new ProcessBuilder("ssh", "-G", "-F", file.toString(), "devbox").start();
    String understood = new String(ssh.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertEquals(0, ssh.waitFor());
    assertTrue(Files.exists(woken), config);
    assertTrue(understood.contains("identityfile " + key.toString().replace("%", "%%") + "\n"));
  }
}
