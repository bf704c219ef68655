package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.ssh.files.HomeIdentity;
import dev.gpush.ssh.files.JdkEd25519;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import org.apache.sshd.core.CoreModuleProperties;
import org.apache.sshd.server.SshServer;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

final class SshdSettingsTest {
  /** As the gateway does; without it this test needs one before it that did. */
  @BeforeAll
  static void register() {
    JdkEd25519.register();
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
