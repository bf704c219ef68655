package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.session.SessionName;
import dev.gpush.ssh.channel.TerminalModes;
import dev.gpush.ssh.files.HomeIdentity;
import dev.gpush.ssh.files.JdkEd25519;
import dev.gpush.ssh.route.NodeName;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.sshd.core.CoreModuleProperties;
import org.apache.sshd.server.SshServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SmallPartsTest {
  /** As the gateway does; without it this test needs one before it that did. */
  @BeforeAll
  static void register() {
    JdkEd25519.register();
  }

  @ParameterizedTest
  @CsvSource({
    "devbox,     devbox,  0",
    "devbox-0,   devbox,  0",
    "devbox-1,   devbox,  1",
    "a-b-12,     a-b,    12",
    "x1,         x1,      0",
  })
  void readsNodeNames(String text, String session, int node) {
    assertEquals(Optional.of(new NodeName(new SessionName(session), node)), NodeName.parse(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "-1",
        "Devbox",
        "devbox-",
        "devbox-01",
        "devbox-1-2",
        "devbox-1234567",
        "a b",
        "devbox\n",
        "root@devbox",
      })
  void readsNothingElseAsANode(String text) {
    assertEquals(Optional.empty(), NodeName.parse(text));
  }

  @Test
  void readsItsOwnNodeNames() {
    var node = new NodeName(new SessionName("devbox"), 3);

    assertEquals(Optional.of(node), NodeName.parse(node.toString()));
  }

  @Test
  void readsTerminalModesUpToTheirEnd() {
    byte[] encoded = {53, 0, 0, 0, 1, 3, 0, 0, 0, 127, 0, 9, 9, 9, 9, 9};

    assertEquals(Map.of(53, 1L, 3, 127L), TerminalModes.parse(encoded));
  }

  @Test
  void readsBrokenTerminalModesAsFarAsTheyGo() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    var random = new Random(seed);
    for (int i = 0; i < 10_000; i++) {
      var bytes = new byte[random.nextInt(40)];
      random.nextBytes(bytes);
      TerminalModes.parse(bytes);
    }
    assertEquals(Map.of(), TerminalModes.parse(new byte[] {53, 0, 0}), "seed " + seed);
  }

  /**
   * Tests 19 to 21 of the contract in the time of a unit test: SSHD's own limits would end who is
   * idle for ten minutes, stopped for thirty seconds, or slow to close.
   */
  @Test
  void noConnectionEndsBecauseNothingMoves() throws Exception {
    KeyPair host = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    SshServer server = Algorithms.server();

    SshdSettings.apply(server, HomeIdentity.of(host));

    Duration year = Duration.ofDays(365);
    assertEquals(Duration.ZERO, CoreModuleProperties.IDLE_TIMEOUT.getRequired(server));
    assertEquals(year, CoreModuleProperties.WAIT_FOR_SPACE_TIMEOUT.getRequired(server));
    assertEquals(year, CoreModuleProperties.CHANNEL_CLOSE_TIMEOUT.getRequired(server));
  }
}
