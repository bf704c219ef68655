package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.ssh.audit.AuditFile;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What real clients do, and what the audit says of it. */
@Tag("local")
class AuditTest {
  private static List<Json.Obj> only(List<Json.Obj> records, String event) {
    return records.stream().filter(each -> each.text("event").orElse("").equals(event)).toList();
  }

  @Test
  void recordsACommandFromLoginToLogoutWithoutItsWords() throws Exception {
    try (var rig = new Rig()) {
      byte[] input = "12345".getBytes(StandardCharsets.UTF_8);
      var result = rig.ssh("devbox", "cat; echo topsecret").input(input).run();
      assertEquals("12345topsecret\n", result.text());

      List<Json.Obj> records = rig.audit();

      Json.Obj login = only(records, "login").getFirst();
      assertEquals("devbox", login.text("node").orElseThrow());
      assertEquals("ann", login.text("person").orElseThrow());
      assertTrue(login.text("from").orElseThrow().startsWith("127.0.0.1:"));
      assertTrue(login.text("client").orElseThrow().contains("OpenSSH"));
      Path key = rig.home().resolve("keys/id_ed25519");
      assertTrue(
          new Command(List.of("ssh-keygen", "-lf", key + ".pub"), rig.folder())
              .run()
              .text()
              .contains(login.text("key").orElseThrow()));
      assertEquals("exec", only(records, "begin").getFirst().text("kind").orElseThrow());
      Json.Obj end = only(records, "end").getFirst();
      assertEquals(5, end.number("up_bytes").orElseThrow());
      assertEquals(15, end.number("down_bytes").orElseThrow());
      assertEquals(login.text("connection"), only(records, "logout").getFirst().text("connection"));
      assertFalse(records.toString().contains("topsecret"));
      Path file = rig.home().resolve("logs").resolve(AuditFile.NAME);
      assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }
  }

  @Test
  void recordsAKeyThatMayNotLogIn() throws Exception {
    try (var rig = new Rig()) {
      Path other = rig.folder().resolve("other");
      new Command(
              List.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other.toString()),
              rig.folder())
          .run();
      Path config = rig.folder().resolve("other_config");
      Files.writeString(
          config,
          Files.readString(rig.home().resolve("ssh_config"))
              .replaceAll("IdentityFile .*", "IdentityFile \"" + other + "\""));

      var result =
          new Command(List.of("ssh", "-F", config.toString(), "devbox", "true"), rig.folder())
              .run();
      assertEquals(255, result.status());

      List<Json.Obj> records = rig.audit();
      Json.Obj failed = only(records, "login-failed").getFirst();
      assertTrue(
          new Command(List.of("ssh-keygen", "-lf", other + ".pub"), rig.folder())
              .run()
              .text()
              .contains(failed.text("key").orElseThrow()));
      assertEquals(List.of(), only(records, "login"));
    }
  }

  @Test
  void namesWhereAForwardGoes() throws Exception {
    try (var rig = new Rig();
        var server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String target = "127.0.0.1:" + server.getLocalPort();
      Process client = rig.ssh("-W", target, "devbox").start();
      client.getOutputStream().write(new byte[11]);
      client.getOutputStream().close();
      try (var accepted = server.accept()) {
        assertEquals(11, accepted.getInputStream().readAllBytes().length);
        accepted.getOutputStream().write(new byte[7]);
      }
      assertEquals(7, client.getInputStream().readAllBytes().length);
      client.waitFor();

      List<Json.Obj> records = rig.audit();

      Json.Obj end = only(records, "end").getFirst();
      assertEquals("forward", end.text("kind").orElseThrow());
      assertEquals(target, end.text("target").orElseThrow());
      assertEquals(11, end.number("up_bytes").orElseThrow());
      assertEquals(7, end.number("down_bytes").orElseThrow());
    }
  }
}
