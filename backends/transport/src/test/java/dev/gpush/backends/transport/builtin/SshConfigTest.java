package dev.gpush.backends.transport.builtin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.transport.Destination;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SshConfigTest {
  @TempDir private Path home;

  private HostConfig read(String destination, String text) throws IOException {
    Path folder = Files.createDirectories(home.resolve(".ssh"));
    Files.writeString(folder.resolve("config"), text);
    var configs = new SshConfig(Optional.of(folder.resolve("config")), home, "me");
    return configs.of(Destination.parse(destination));
  }

  @Test
  void withoutAWordThereAreSshsDefaults() throws IOException {
    HostConfig config = read("gpu01", "");

    assertEquals("gpu01", config.hostName());
    assertEquals(22, config.port());
    assertEquals("me", config.user());
    assertEquals(Optional.empty(), config.jump());
    assertEquals(3, config.keyFiles().size());
    assertEquals(home.resolve(".ssh/known_hosts"), config.knownHosts().getFirst());
    assertTrue(config.asksAboutKeys());
  }

  @Test
  void theFirstValueCountsAndKeysAddUp() throws IOException {
    HostConfig config =
        read(
            "gpu01",
            """
            # comment
            Host gpu* !gpu02
              HostName=%h.lab
              User = ann   # not I
              IdentityFile "~/keys/%r at %h"
            Host gpu02
              Port 1
            Host *
              HostName other
              Port 2222
              IdentityFile ~/keys/b
              IdentitiesOnly yes
              ProxyJump ann@door:2200
              StrictHostKeyChecking yes
              Ciphers any
            """);

    assertEquals("gpu01.lab", config.hostName());
    assertEquals(2222, config.port());
    assertEquals("[gpu01.lab]:2222", config.keyName());
    assertEquals("ann", config.user());
    assertEquals(
        List.of(home.resolve("keys/ann at gpu01.lab"), home.resolve("keys/b")), config.keyFiles());
    assertTrue(config.isFilesOnly());
    assertEquals(Optional.of(Destination.parse("ann@door:2200")), config.jump());
    assertFalse(config.asksAboutKeys());
  }

  @Test
  void whatIsWrittenBeforeTheHostIsStronger() throws IOException {
    HostConfig config = read("bob@gpu01:23", "User ann\nPort 24\n");

    assertEquals("bob", config.user());
    assertEquals(23, config.port());
  }

  @ParameterizedTest
  @CsvSource({
    "all, yes",
    "host *.lab, yes",
    "originalhost gpu01, yes",
    "host *.lab originalhost gpu02, no",
    "'originalhost gpu*,!gpu01', no",
    "exec true host other, no",
    "final host other, no"
  })
  void matchIsByHost(String criteria, String isMet) throws IOException {
    HostConfig config =
        read("ann@gpu01", "HostName gpu01.lab\nMatch " + criteria + "\n  Port 99\n");

    assertEquals(isMet.equals("yes") ? 99 : 22, config.port());
  }

  @Test
  void includesAreReadWhereTheyStand() throws IOException {
    Path folder = Files.createDirectories(home.resolve(".ssh/more.d"));
    Files.writeString(folder.resolve("a"), "Host gpu01\n  Port 1\nHost other\n  User nobody\n");
    Files.writeString(folder.resolve("b"), "Port 2\nUser second\n");

    HostConfig included = read("gpu01", "Include more.d/*\nPort 3\nHostName late\n");
    HostConfig inABlock = read("gpu02", "Host gpu01\n  Include more.d/*\n");

    assertEquals(1, included.port());
    assertEquals("second", included.user());
    assertEquals("late", included.hostName());
    assertEquals(22, inABlock.port());
  }

  @Test
  void filesThatIncludeThemselvesAreRefused() {
    assertThrows(IOException.class, () -> read("gpu01", "Include config\n"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ProxyCommand nc %h %p",
        "ProxyJump door\nProxyCommand nc %h %p",
        "ProxyJump door,second",
        "Match exec true\n  ProxyJump door",
        "Match final all\n  HostName other",
        "Match user ann\n  HostName other",
        "Match !host other\n  User bob",
        "Match localnetwork 10.0.0.0/8\n  IdentityFile other",
        "CanonicalizeHostname yes",
        "CertificateFile ~/.ssh/some-cert.pub",
        "RevokedHostKeys /etc/ssh/revoked",
        "KnownHostsCommand /bin/known %H"
      })
  void whatWouldLeadElsewhereNeedsOpenSsh(String lines) {
    GpushException refused =
        assertThrows(GpushException.class, () -> read("gpu01", lines + "\n").jump());

    Failure failure = refused.failure();
    assertTrue(failure instanceof MachineFailure.NeedsOpenSsh, failure::toString);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Host other\n  ProxyCommand nc %h %p",
        "ProxyCommand none\nProxyCommand nc %h %p",
        "CanonicalizeHostname no",
        "Match final all\n  Ciphers any\n  Include none-such",
        "Match originalhost devbox exec true\n  HostName other"
      })
  void whatIsAboutOthersOrSetsNothingStopsNobody(String lines) throws IOException {
    HostConfig config = read("gpu01", lines + "\n");

    assertEquals("gpu01", config.hostName());
    assertEquals(Optional.empty(), config.jump());
  }

  @Test
  void aJumpHostIsNotItsOwn() throws IOException {
    String jump = "ProxyJump ssh://ann@door:22\n";

    assertEquals(Optional.of(Destination.parse("ann@door:22")), read("a", jump).jump());
    assertEquals(Optional.empty(), read("door", jump).jump());
    assertEquals(Optional.empty(), read("a", "ProxyJump none\n").jump());
  }

  @Test
  void theAgentIsWhereItIsSaidToBe() throws IOException {
    Map<String, String> environment = Map.of("SSH_AUTH_SOCK", "/run/a");

    assertEquals(Optional.of(Path.of("/run/a")), read("a", "").agent(environment));
    assertEquals(
        Optional.of(home.resolve("s")), read("a", "IdentityAgent ~/s\n").agent(environment));
    assertEquals(Optional.empty(), read("a", "IdentityAgent none\n").agent(environment));
  }
}
