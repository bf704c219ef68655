package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * OpenSSH's own regression scripts with the gateway in sshd's place. Which apply, and why others do
 * not, is in docs/reference/openssh-tests.md.
 */
@Timeout(1800)
@Tag("ssh-contract")
final class OpenSshScriptsIT {
  /** A second or two each. */
  private static final List<String> QUICK =
      List.of(
          "connect",
          "connect-uri",
          "proxy-connect",
          "proto-version",
          "proto-mismatch",
          "envpass",
          "yes-head",
          "exit-status-signal",
          "keyscan",
          "sftp-batch",
          "scp-uri");

  private static final List<String> OTHERS =
      List.of(
          "dynamic-forward",
          "exit-status",
          "forwarding",
          "host-expand",
          "integrity",
          "kextype",
          "knownhosts",
          "localcommand",
          "multiplex",
          "portnum",
          "rekey",
          "scp",
          "scp3",
          "sftp",
          "sftp-badcmds",
          "sftp-cmds",
          "sftp-glob",
          "sftp-uri",
          "stderr-after-eof",
          "stderr-data",
          "transfer",
          "try-ciphers");

  @Test
  void theQuickOnes() throws Exception {
    run(QUICK);
  }

  @ParameterizedTest
  @FieldSource("OTHERS")
  @EnabledIfSystemProperty(named = "gpush.long", matches = "true")
  void theOthers(String script) throws Exception {
    run(List.of(script));
  }

  private static void run(List<String> scripts) throws Exception {
    Optional<String> rig = World.rig("clients");
    Assumptions.assumeTrue(rig.isPresent(), "the clients rig is down");
    try (World world = World.asShipped(Map.of())) {
      // They take the user's key for the host's.
      Path keys = Files.createDirectories(world.home().resolve("keys"));
      Path key = keys.resolve("id_ed25519");
      Process made =
          world.start(
              world.project(),
              List.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key.toString()));
      assertEquals(0, made.waitFor());
      for (String end : List.of("", ".pub")) {
        Files.copy(Path.of(key + end), keys.resolve("ssh_host_ed25519_key" + end));
      }
      world.gpush("up").succeeded();
      Path folder = Files.createDirectory(world.project().resolveSibling("regress"));
      var command =
          new ArrayList<>(
              List.of(
                  "env",
                  "TEST_SSH_PORT=" + World.freePort(),
                  World.repository().resolve("src/test/resources/clients/openssh/run").toString(),
                  Path.of(rig.get(), "debian/usr/lib/openssh/regress").toString(),
                  world.home().toString(),
                  folder.toString()));
      command.addAll(scripts);

      // Some take minutes, so the limit is the test's.
      Process process = world.start(world.project(), command);
      CompletableFuture<byte[]> errors = World.read(process.getErrorStream());
      String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      System.err.print(said);
      assertEquals(
          0, process.waitFor(), () -> said + new String(errors.join(), StandardCharsets.UTF_8));
    }
  }
}
