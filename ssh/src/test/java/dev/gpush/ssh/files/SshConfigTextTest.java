package dev.gpush.ssh.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.session.SessionName;
import dev.gpush.ssh.PlainReader;
import dev.gpush.ssh.connection.PublishedSession;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SshConfigTextTest {
  @TempDir private Path folder;

  private static final Path HOME = Path.of("/home/a person/100%");

  private final SshConfigText text =
      new SshConfigText(
          HOME.resolve("keys/id_ed25519"),
          HOME.resolve("known_hosts"),
          "gpush-0123456789ab",
          new SshConfigText.ByPort(24_680, HOME.resolve("ssh_wake")));

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

        # A proxy that you have set for all hosts is not for these.
        Match originalhost devbox,devbox-0,devbox-1 !originalhost none
          proxycommand none
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
    String config =
        new SshConfigText(key, home.resolve("known"), "a", new SshConfigText.ByPort(1, script))
            .of(hosts);
    Path file = Files.writeString(folder.resolve("config"), config);

    Process ssh = new ProcessBuilder("ssh", "-G", "-F", file.toString(), "devbox").start();
    String understood = new String(ssh.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertEquals(0, ssh.waitFor());
    assertTrue(Files.exists(woken), config);
    assertTrue(understood.contains("identityfile " + key.toString().replace("%", "%%") + "\n"));
  }

  // ---- issue 14, line 17: what different readers make of proxies

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host *\n  ProxyJump bastion\n",
        "Host *\n  ProxyCommand nc %h %p\n",
        "Host dev*\n  ProxyJump bastion\nHost *\n  CanonicalizeHostname always\n",
        "Match final all\n  ProxyCommand nc %h %p\n",
      })
  void openSshTakesNoProxyThatIsSetForAllHosts(String forAll) throws Exception {
    assertEquals("", proxies(forAll, "devbox"));
    assertEquals("", proxies(forAll, "devbox-1"));
    assertNotEquals("", proxies(forAll, "development"));
    assertEquals("proxyjump mine\n", proxies(forAll, "-J", "mine", "devbox"));
  }

  /** What a person's ssh makes of our file and these lines below its Include. */
  private String proxies(String forAll, String... words) throws Exception {
    Path script = Files.writeString(folder.resolve("wake"), ":\n");
    Path ours = folder.resolve("ours");
    Path key = folder.resolve("id");
    var hosts = new PublishedSession(SessionName.parse("devbox"), 2).hosts();
    Files.writeString(
        ours,
        new SshConfigText(key, folder.resolve("known"), "a", new SshConfigText.ByPort(1, script))
            .of(hosts));
    Path config =
        Files.writeString(folder.resolve("config"), "Include \"%s\"\n%s".formatted(ours, forAll));
    var command = new ArrayList<>(List.of("ssh", "-G", "-F", config.toString()));
    command.addAll(List.of(words));
    Process ssh =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    String understood = new String(ssh.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, ssh.waitFor());
    return understood
        .lines()
        .filter(line -> line.matches("proxy(jump|command) .*"))
        .map(line -> line + "\n")
        .collect(Collectors.joining());
  }

  @Test
  void aReaderThatTakesNoneForAHostSeesNoProxy() {
    String config = text.of(new PublishedSession(SessionName.parse("devbox"), 2).hosts());

    for (String host : List.of("devbox", "devbox-0", "devbox-1")) {
      Map<String, String> seen = PlainReader.compute(config, host);
      assertEquals("127.0.0.1", seen.get("HostName"), host);
      assertEquals("24680", seen.get("Port"), host);
      assertEquals(host.replace("-0", ""), seen.get("User"), host);
      assertFalse(seen.containsKey("ProxyJump"), host);
      assertFalse(seen.containsKey("ProxyCommand"), host);
    }
    assertEquals(Map.of(), PlainReader.compute(config, "other"));
  }

  /** That the reader would find the word, were it where it used to be. */
  @Test
  void aReaderThatTakesNoneForAHostWouldSeeItInABlockOfAHost() {
    String config = "Host devbox\n  ProxyJump none\nMatch originalhost devbox\n  Port 1\n";

    assertEquals(
        Map.of("Host", "devbox", "ProxyJump", "none", "Port", "1"),
        PlainReader.compute(config, "devbox"));
    assertThrows(
        IllegalArgumentException.class,
        () -> PlainReader.compute("Match !canonical originalhost devbox\n", "devbox"));
  }

  @Test
  void reachesASocketThroughAProgramAndNeedsNoWakeUp() {
    var hosts = new PublishedSession(SessionName.parse("devbox"), 1).hosts();
    var byProxy =
        new SshConfigText(
            HOME.resolve("key"),
            HOME.resolve("known_hosts"),
            "gpush-0123456789ab",
            new SshConfigText.ByProxy(Path.of("/home/it's 100%/ssh_proxy")));

    String config = byProxy.of(hosts);

    assertTrue(
        config.contains("\n  ProxyCommand /bin/sh '/home/it'\\''s 100%%/ssh_proxy'\n"), config);
    assertFalse(config.contains("Port ") || config.contains("Match"), config);
  }
}
