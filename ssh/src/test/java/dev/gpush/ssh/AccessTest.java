package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.file.WholeFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Authorized keys and user certificates, with OpenSSH's own client and ssh-keygen. */
@Tag("ssh-contract")
class AccessTest {
  private Rig rig;
  private KeyRing keys;

  @BeforeEach
  void starts() throws Exception {
    rig = new Rig();
    keys = new KeyRing(rig);
  }

  @AfterEach
  void ends() throws Exception {
    rig.close();
  }

  private void assertIn(Path key) throws Exception {
    Command.Result result = keys.ssh(key, "127.0.0.1", "echo in").run();
    assertEquals("in\n", result.text(), result.errors());
  }

  private void assertOut(Path key) throws Exception {
    Command.Result result = keys.ssh(key, "127.0.0.1", "echo in").run();
    assertEquals("", result.text());
    assertTrue(result.errors().contains("Permission denied (publickey)"), result.errors());
  }

  // ---- authorized keys

  @ParameterizedTest
  @ValueSource(strings = {"-ted25519", "-tecdsa -b256", "-tecdsa -b521", "-trsa -b2048"})
  void anAuthorizedKeyLogsInFromTheMomentThatItIsWritten(String kind) throws Exception {
    Path key = keys.key("ann", kind.split(" ", -1));
    assertOut(key);

    keys.authorize("# people", "", KeyRing.line(key));

    assertIn(key);
  }

  @Test
  void aLineThatCannotBeReadLocksNobodyElseOut() throws Exception {
    Path key = keys.key("ann");
    Path small = keys.key("small", "-trsa", "-b1024");
    Path limited = keys.key("limited");

    keys.authorize(
        "ssh-ed25519 AAAAB3 broken",
        "not a key at all",
        "permitopen=\"localhost\" " + KeyRing.line(limited),
        KeyRing.line(small),
        KeyRing.line(key) + " with \"quotes\" in its comment");

    assertIn(key);
    assertOut(small);
    assertOut(limited);
  }

  @Test
  void aFileThatOthersMayWriteIsNotUsed() throws Exception {
    Path key = keys.key("ann");

    WholeFile.write(rig.home().resolve("authorized_keys"), KeyRing.line(key) + "\n", "rw-rw-r--");

    assertOut(key);
  }

  @Test
  void optionsLimitWhatAKeyMayDo() throws Exception {
    Path forced = keys.key("forced");
    Path restricted = keys.key("restricted");
    Path late = keys.key("late");
    Path elsewhere = keys.key("elsewhere");
    keys.authorize(
        "command=\"echo \\\"forced, not\\\" $SSH_ORIGINAL_COMMAND\" " + KeyRing.line(forced),
        "restrict " + KeyRing.line(restricted),
        "expiry-time=\"20200101Z\" " + KeyRing.line(late),
        "from=\"10.0.0.0/8,!127.0.0.1\" " + KeyRing.line(elsewhere));

    assertEquals("forced, not rm -rf x\n", keys.ssh(forced, "127.0.0.1", "rm -rf x").run().text());
    assertIn(restricted);
    assertOut(late);
    assertOut(elsewhere);
    Command.Result terminal = keys.ssh(restricted, "-tt", "127.0.0.1", "tty").run();
    assertTrue(terminal.errors().contains("PTY allocation request failed"), terminal.errors());
    Command.Result dialled = keys.ssh(restricted, "-W", "127.0.0.1:22", "127.0.0.1").run();
    assertTrue(dialled.errors().contains("your key may not forward ports"), dialled.errors());
    Command.Result listening =
        keys.ssh(
                restricted,
                "-o",
                "ExitOnForwardFailure=yes",
                "-R",
                "0:localhost:1",
                "127.0.0.1",
                "true")
            .run();
    assertTrue(listening.errors().contains("remote port forwarding failed"), listening.errors());
  }

  // ---- certificates

  /** A certificate of {@code key} by {@code authority}, beside the key as ssh expects it. */
  private void certify(Path authority, Path key, String... options) throws Exception {
    var words = new java.util.ArrayList<>(List.of("-q", "-s", authority.toString()));
    words.addAll(List.of(options));
    words.add(key + ".pub");
    keys.keygen(words.toArray(String[]::new));
  }

  @Test
  void aCertificateByATrustedAuthorityLogsIn() throws Exception {
    Path authority = keys.key("ca");
    Path key = keys.key("ann");
    certify(authority, key, "-I", "ann", "-n", "ann,other", "-V", "-1h:+1h");
    assertOut(key);

    keys.trust(authority);

    assertIn(key);
  }

  /** Each is a certificate that sshd refuses too. */
  @Test
  void certificatesThatAreRefused() throws Exception {
    Path authority = keys.key("ca");
    keys.trust(authority);
    Path other = keys.key("other_ca");
    List<List<String>> refused =
        List.of(
            List.of("-I", "a", "-n", "bob"),
            List.of("-I", "no principals"),
            List.of("-I", "a", "-n", "ann", "-V", "-2h:-1h"),
            List.of("-I", "a", "-n", "ann", "-V", "+1h:+2h"),
            List.of("-I", "a", "-n", "ann", "-O", "source-address=10.0.0.0/8"),
            List.of("-I", "a", "-n", "ann", "-O", "critical:unheard-of@example.org=1"),
            List.of("-I", "a", "-n", "ann", "-O", "verify-required"),
            List.of("-I", "a host", "-h", "-n", "ann"));
    for (int i = 0; i < refused.size(); i++) {
      Path key = keys.key("k" + i);
      certify(authority, key, refused.get(i).toArray(String[]::new));
      assertOut(key);
    }
    Path stranger = keys.key("stranger");
    certify(other, stranger, "-I", "a", "-n", "ann");
    assertOut(stranger);
  }

  @Test
  void aCertificateSaysWhatItsHolderMayDo() throws Exception {
    Path authority = keys.key("ca");
    keys.trust(authority);
    Path key = keys.key("ann");
    certify(
        authority,
        key,
        "-I",
        "ann",
        "-n",
        "team",
        "-O",
        "clear",
        "-O",
        "permit-pty",
        "-O",
        "source-address=127.0.0.1/32",
        "-O",
        "force-command=echo only; tty");

    Command.Result result = keys.ssh(key, "-tt", "127.0.0.1", "echo in").run();
    Command.Result dialled = keys.ssh(key, "-W", "127.0.0.1:22", "127.0.0.1").run();

    assertTrue(result.text().startsWith("only\r\n/dev/"), result.text() + result.errors());
    assertTrue(dialled.errors().contains("your key may not forward ports"), dialled.errors());
  }

  @Test
  void anAuthorityOfTheAuthorizedKeysHasPrincipalsOfItsOwn() throws Exception {
    Path authority = keys.key("ca");
    Path key = keys.key("ann");
    certify(authority, key, "-I", "ann", "-n", "guests");

    keys.authorize("cert-authority,principals=\"guests\" " + KeyRing.line(authority));
    assertIn(key);

    keys.authorize("cert-authority " + KeyRing.line(authority));
    assertOut(key);
    assertOut(authority);
  }

  /** OpenSSH's script cert-userkey: the certificate's command ran, whatever the line says. */
  @Test
  void aLineAndACertificateMustForceTheSameCommand() throws Exception {
    Path authority = keys.key("ca");
    Path key = keys.key("ann");
    certify(authority, key, "-I", "ann", "-n", "ann", "-O", "force-command=echo one");

    keys.authorize(
        "cert-authority,principals=\"ann\",command=\"echo two\" " + KeyRing.line(authority));
    assertOut(key);

    keys.authorize(
        "cert-authority,principals=\"ann\",command=\"echo one\" " + KeyRing.line(authority));
    assertEquals("one\n", keys.ssh(key, "127.0.0.1", "echo three").run().text());
  }

  // ---- revocation

  private void revoke(String... options) throws Exception {
    var words = new java.util.ArrayList<>(List.of("-q", "-k", "-f", revoked().toString()));
    words.addAll(List.of(options));
    keys.keygen(words.toArray(String[]::new));
    Files.setPosixFilePermissions(
        revoked(), java.nio.file.attribute.PosixFilePermissions.fromString("rw-------"));
  }

  private Path revoked() {
    return rig.home().resolve("revoked_keys");
  }

  private Path spec(String text) throws IOException {
    Path file = rig.folder().resolve("spec");
    Files.writeString(file, text);
    return file;
  }

  @Test
  void revokedKeysAndCertificatesAreRefused() throws Exception {
    Path authority = keys.key("ca");
    keys.trust(authority);
    Path good = keys.key("good");
    Path plain = keys.key("plain");
    keys.authorize(KeyRing.line(plain));
    certify(authority, good, "-I", "good", "-n", "ann", "-z", "1");
    for (String name : List.of("serial", "range", "id", "hash", "key")) {
      Path key = keys.key(name);
      String serial = name.equals("range") ? "70" : name.equals("serial") ? "7" : "2000";
      certify(authority, key, "-I", name, "-n", "ann", "-z", serial);
      assertIn(key);
    }
    Path ca = Path.of(authority + ".pub");
    String hash = KeyRing.line(rig.folder().resolve("hash"));
    revoke(
        "-s",
        ca.toString(),
        spec("serial: 7\nserial: 9\nserial: 60-75\nid: id\nsha256: " + hash + "\n").toString(),
        rig.folder().resolve("key.pub").toString());

    assertIn(good);
    assertIn(plain);
    for (String name : List.of("serial", "range", "id", "hash", "key")) {
      assertOut(rig.folder().resolve(name));
    }
  }

  /** Whoever might be revoked is refused, except the owner, who can mend the file. */
  @Test
  void aListThatCannotBeReadRefusesAllButTheOwner() throws Exception {
    Path key = keys.key("ann");
    keys.authorize(KeyRing.line(key));
    WholeFile.write(revoked(), "SSHKRL\n\0 and so on", "rw-------");

    assertOut(key);
    assertEquals("in\n", rig.ssh("devbox", "echo in").run().text());
  }

  private Process connected(Path key) throws IOException {
    Process client = new ProcessBuilder(keys.words(key, "127.0.0.1", "echo ready; cat")).start();
    assertEquals('r', client.getInputStream().read());
    return client;
  }

  private static void assertEndsWith(String reason, Process client) throws Exception {
    try (BufferedReader errors = client.errorReader()) {
      String text = errors.readAllAsString();
      assertTrue(text.contains(reason), text);
    }
    assertEquals(255, client.waitFor());
  }

  @Test
  void aKeyThatIsRemovedEndsItsConnectionsAndNoOthers() throws Exception {
    Path one = keys.key("one");
    Path two = keys.key("two");
    keys.authorize(KeyRing.line(one), KeyRing.line(two));
    Process first = connected(one);
    Process second = connected(two);
    Process owner = rig.forwarding();

    keys.authorize(KeyRing.line(two));

    assertEndsWith("may no longer log in: it is not an authorized key", first);
    assertTrue(second.isAlive());
    assertTrue(owner.isAlive());
    for (Process client : List.of(second, owner)) {
      client.getOutputStream().close();
      assertEquals(0, client.waitFor());
    }
  }

  @Test
  void aRevokedCertificateEndsItsConnections() throws Exception {
    Path authority = keys.key("ca");
    keys.trust(authority);
    Path key = keys.key("ann");
    certify(authority, key, "-I", "ann", "-n", "ann", "-z", "5");
    Process client = connected(key);

    revoke("-s", authority + ".pub", spec("serial: 5\n").toString());

    assertEndsWith("may no longer log in: it is in", client);
  }

  @Test
  void theHomesOwnKeyCanBeRevokedToo() throws Exception {
    Process owner = connected(rig.home().resolve("keys/id_ed25519"));

    WholeFile.write(
        revoked(), Files.readString(rig.home().resolve("keys/id_ed25519.pub")), "rw-------");

    assertEndsWith("may no longer log in: it is in", owner);
  }
}
