package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.sshd.client.ClientBuilder;
import org.apache.sshd.client.SshClient;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.client.session.ClientSession.ClientSessionEvent;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.SshException;
import org.apache.sshd.common.kex.BuiltinDHFactories;
import org.apache.sshd.common.keyprovider.FileKeyPairProvider;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.SessionListener;
import org.apache.sshd.common.util.buffer.Buffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a client that may not log in can send, each named after what it has been used for. */
class PreAuthTest {
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  private static final String VERSION = "SSH-2.0-attack\r\n";

  /** A server reads on for a while after a wrong size, so that it does not tell where it was. */
  private static final byte[] MORE = new byte[1 << 20];

  private SshGatewayFixture rig;
  private SshClient client;
  private final ConcurrentLinkedQueue<String> reasons = new ConcurrentLinkedQueue<>();

  @BeforeEach
  void starts() throws Exception {
    rig = new SshGatewayFixture();
    client = SshClient.setUpDefaultClient();
    client.setServerKeyVerifier((_, _, _) -> true);
    client.setKeyExchangeFactories(
        List.of(ClientBuilder.DH2KEX.apply(BuiltinDHFactories.curve25519)));
    client.addSessionListener(
        new SessionListener() {
          @Override
          public void sessionDisconnect(
              Session session, int code, String text, String language, boolean isOurs) {
            if (!isOurs) {
              reasons.add(text);
            }
          }
        });
    client.start();
  }

  /** Whatever was tried, the next real login works, and nobody else is in. */
  @AfterEach
  void ends() throws Exception {
    // The test has closed its connection; the gateway may not know yet.
    while (rig.gateway().hasClients()) {
      LockSupport.parkNanos(1_000_000);
    }
    assertEquals("in\n", rig.ssh("devbox", "echo in").run().text());
    client.stop();
    rig.close();
  }

  // ---- before keys are exchanged

  private byte[] says(byte[]... parts) throws IOException {
    try (var socket = new Socket(InetAddress.getLoopbackAddress(), rig.gateway().port())) {
      socket.setSoTimeout((int) PATIENCE.toMillis());
      try {
        for (byte[] part : parts) {
          socket.getOutputStream().write(part);
        }
      } catch (IOException closed) {
        // It was closed in the middle.
      }
      return rest(socket.getInputStream());
    }
  }

  /** Everything until the end; a reset is an end too. */
  private static byte[] rest(InputStream input) throws IOException {
    var all = new ByteArrayOutputStream();
    try {
      input.transferTo(all);
    } catch (java.net.SocketTimeoutException stays) {
      throw stays;
    } catch (IOException reset) {
      // The connection is closed.
    }
    return all.toByteArray();
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  /** A packet as it is before keys are exchanged. */
  private static byte[] packet(byte[] payload) throws IOException {
    int padding = 8 - (payload.length + 5) % 8 + 8;
    var bytes = new ByteArrayOutputStream();
    var out = new DataOutputStream(bytes);
    out.writeInt(1 + payload.length + padding);
    out.write(padding);
    out.write(payload);
    out.write(new byte[padding]);
    return bytes.toByteArray();
  }

  private static byte[] keyExchangeInit() throws IOException {
    var bytes = new ByteArrayOutputStream();
    var out = new DataOutputStream(bytes);
    out.write(SshConstants.SSH_MSG_KEXINIT);
    out.write(new byte[16]);
    for (String names :
        List.of(
            "curve25519-sha256,kex-strict-c-v00@openssh.com",
            "ssh-ed25519",
            "aes128-gcm@openssh.com",
            "aes128-gcm@openssh.com",
            "hmac-sha2-256",
            "hmac-sha2-256",
            "none",
            "none",
            "",
            "")) {
      out.writeInt(names.length());
      out.write(ascii(names));
    }
    out.write(new byte[5]);
    return packet(bytes.toByteArray());
  }

  private static boolean hasMessage(byte[] answer, int message) {
    // After the version comes one packet after another, unencrypted.
    int at = new String(answer, StandardCharsets.ISO_8859_1).indexOf('\n') + 1;
    while (at + 6 <= answer.length) {
      int length = java.nio.ByteBuffer.wrap(answer, at, 4).getInt();
      if ((answer[at + 5] & 0xff) == message) {
        return true;
      }
      at += 4 + length;
    }
    return false;
  }

  @Test
  void httpRequestInsteadOfAVersion() throws Exception {
    byte[] answer = says(ascii("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(100)));

    assertFalse(hasMessage(answer, SshConstants.SSH_MSG_NEWKEYS));
  }

  @Test
  void versionWithoutAnEnd() throws Exception {
    says(ascii("SSH-2.0-" + "x".repeat(1_000_000)));
  }

  @Test
  void versionOfTheOldProtocol() throws Exception {
    says(ascii("SSH-1.5-old\r\n"));
  }

  @Test
  void packetOfTwoGigabytes() throws Exception {
    says(ascii(VERSION), new byte[] {0x7f, -1, -1, -1, 4, 20}, MORE);
  }

  @Test
  void packetOfNegativeSize() throws Exception {
    says(ascii(VERSION), new byte[] {-1, -1, -1, -4, 4, 20}, MORE);
  }

  /** CVE-2025-32433 of Erlang: requests of channels that nobody has authenticated. */
  @Test
  void channelOpenedBeforeKeysAreExchanged() throws Exception {
    byte[] open = {SshConstants.SSH_MSG_CHANNEL_OPEN, 0, 0, 0, 0};

    byte[] answer = says(ascii(VERSION), keyExchangeInit(), packet(open));

    assertFalse(hasMessage(answer, SshConstants.SSH_MSG_CHANNEL_OPEN_CONFIRMATION));
  }

  /** CVE-2018-10933 of libssh, in plain text. */
  @Test
  void successSaidByTheClientBeforeKeysAreExchanged() throws Exception {
    byte[] success = {SshConstants.SSH_MSG_USERAUTH_SUCCESS};

    says(ascii(VERSION), keyExchangeInit(), packet(success));
  }

  /** Terrapin, CVE-2023-48795: a message put in before the keys would shift the numbers. */
  @Test
  void messageInsertedIntoAStrictKeyExchange() throws Exception {
    byte[] ignore = {SshConstants.SSH_MSG_IGNORE, 0, 0, 0, 0};

    byte[] answer = says(ascii(VERSION), keyExchangeInit(), packet(ignore));

    assertTrue(hasMessage(answer, SshConstants.SSH_MSG_KEXINIT));
  }

  // ---- after keys are exchanged

  /** Keys are exchanged, and nobody has logged in. */
  private ClientSession connected() throws IOException {
    ClientSession session =
        client.connect("devbox", "127.0.0.1", rig.gateway().port()).verify(PATIENCE).getSession();
    session.waitFor(EnumSet.of(ClientSessionEvent.WAIT_AUTH), PATIENCE);
    return session;
  }

  private static void send(ClientSession session, int message, Object... fields)
      throws IOException {
    Buffer packet = session.createBuffer((byte) message);
    for (Object field : fields) {
      switch (field) {
        case String text -> packet.putString(text);
        case Integer number -> packet.putInt(number);
        case Boolean flag -> packet.putBoolean(flag);
        default -> packet.putBytes((byte[]) field);
      }
    }
    try {
      session.writePacket(packet);
    } catch (IOException refused) {
      if (session.isOpen()) {
        throw refused;
      }
      // The server has ended it after the message before this one, which is what is asserted.
    }
  }

  private static void assertEnds(ClientSession session) {
    var events = session.waitFor(EnumSet.of(ClientSessionEvent.CLOSED), PATIENCE);
    assertTrue(events.contains(ClientSessionEvent.CLOSED), "it stays: " + events);
    assertFalse(session.isAuthenticated());
  }

  @Test
  void channelOpenedBeforeAuthentication() throws Exception {
    ClientSession session = connected();

    send(session, SshConstants.SSH_MSG_CHANNEL_OPEN, "session", 0, 1 << 20, 1 << 15);

    assertEnds(session);
  }

  @Test
  void commandRequestedBeforeAuthentication() throws Exception {
    ClientSession session = connected();

    send(session, SshConstants.SSH_MSG_CHANNEL_REQUEST, 0, "exec", true, "touch /tmp/never");

    assertEnds(session);
  }

  @Test
  void forwardRequestedBeforeAuthentication() throws Exception {
    ClientSession session = connected();

    send(session, SshConstants.SSH_MSG_GLOBAL_REQUEST, "tcpip-forward", true, "127.0.0.1", 0);

    assertEnds(session);
  }

  /** CVE-2018-10933 of libssh. */
  @Test
  void successSaidByTheClient() throws Exception {
    ClientSession session = connected();

    send(session, SshConstants.SSH_MSG_USERAUTH_SUCCESS);
    send(session, SshConstants.SSH_MSG_CHANNEL_OPEN, "session", 0, 1 << 20, 1 << 15);

    assertEnds(session);
  }

  @Test
  void connectionServiceRequestedWithoutAuthentication() throws Exception {
    ClientSession session = connected();

    send(session, SshConstants.SSH_MSG_SERVICE_REQUEST, "ssh-connection");
    send(session, SshConstants.SSH_MSG_CHANNEL_OPEN, "session", 0, 1 << 20, 1 << 15);

    assertEnds(session);
  }

  @Test
  void userNameThatChangesBetweenAttempts() throws Exception {
    ClientSession session = connected();

    for (String user : List.of("devbox", "root")) {
      String service = "ssh-connection";
      send(session, SshConstants.SSH_MSG_USERAUTH_REQUEST, user, service, "none");
    }

    assertEnds(session);
  }

  /** Each question costs an attempt, so a client cannot ask about thousands of keys. */
  @Test
  @Tag("ssh-contract")
  void tenThousandKeysAreProbed() throws Exception {
    ClientSession session = connected();
    byte[] blob = blob(key(rig.home().resolve("keys/ssh_host_ed25519_key")));
    int asked = 0;
    try {
      while (asked < 10_000 && session.isOpen()) {
        blob[blob.length - 1]++;
        probe(session, blob);
        asked++;
      }
    } catch (IOException closed) {
      // As it should be.
    }

    assertEnds(session);
    assertTrue(reasons.toString().contains("Too many authentication failures"), reasons::toString);
  }

  private static void probe(ClientSession session, byte[] blob) throws IOException {
    send(
        session,
        SshConstants.SSH_MSG_USERAUTH_REQUEST,
        "devbox",
        "ssh-connection",
        "publickey",
        false,
        "ssh-ed25519",
        blob);
  }

  private static KeyPair key(Path file) throws Exception {
    return new FileKeyPairProvider(file).loadKeys(null).iterator().next();
  }

  private static byte[] blob(KeyPair key) {
    var buffer = new org.apache.sshd.common.util.buffer.ByteArrayBuffer();
    buffer.putRawPublicKey(key.getPublic());
    return buffer.getCompactData();
  }

  /**
   * Test 33 of the contract: what a stranger is told, and how soon, does not depend on whether
   * there is such a session. It is not looked up, so there is nothing that could take longer.
   */
  @Test
  void userNamesAreNotLookedUpBeforeALogin() throws Exception {
    KeyPair wrong = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    var answers = new ArrayList<String>();
    for (String user : List.of("devbox", "devbox-1", "nobody", "not a name")) {
      try (ClientSession session =
          client.connect(user, "127.0.0.1", rig.gateway().port()).verify(PATIENCE).getSession()) {
        session.addPublicKeyIdentity(wrong);
        SshException refused =
            assertThrows(SshException.class, () -> session.auth().verify(PATIENCE));
        answers.add(refused.getDisconnectCode() + " " + refused.getMessage());
      }
    }

    assertEquals(1, answers.stream().distinct().count(), answers::toString);
    assertEquals(List.of(), rig.asked());
  }

  // ---- many at once

  /** Half of them have sent their version, and no more. */
  @Test
  @Tag("ssh-contract")
  void fiveHundredHalfOpenConnectionsDoNotStopALogin() throws Exception {
    var open = new ArrayList<Socket>();
    try {
      for (int i = 0; i < 500; i++) {
        var socket = new Socket(InetAddress.getLoopbackAddress(), rig.gateway().port());
        open.add(socket);
        if (i % 2 == 0) {
          socket.getOutputStream().write(ascii(VERSION));
        }
      }
      assertEquals('S', open.getFirst().getInputStream().read());

      long begin = System.nanoTime();
      assertEquals("in\n", rig.ssh("devbox", "echo in").run().text());
      System.err.println(
          "a login beside 500 half-open connections took "
              + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin)
              + " ms");
    } finally {
      for (Socket socket : open) {
        socket.close();
      }
    }
  }
}
