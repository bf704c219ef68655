package dev.gpush.ssh;

import dev.gpush.ssh.connection.ClientLimits;
import dev.gpush.ssh.files.HomeIdentity;
import java.time.Duration;
import org.apache.sshd.core.CoreModuleProperties;
import org.apache.sshd.server.SshServer;

/**
 * Settings of SSHD whose defaults do not fit: by default it ends connections that are idle for ten
 * minutes and clients that are asleep for thirty seconds, and its window is small.
 */
final class SshdSettings {
  private SshdSettings() {}

  static void apply(SshServer server, HomeIdentity identity) {
    CoreModuleProperties.SERVER_IDENTIFICATION.set(server, identity.banner());

    // No client is disconnected for being idle, asleep or slow; a dead client's socket closes by
    // itself.
    CoreModuleProperties.IDLE_TIMEOUT.set(server, Duration.ZERO);
    CoreModuleProperties.WAIT_FOR_SPACE_TIMEOUT.set(server, ClientLimits.NEVER);
    CoreModuleProperties.CHANNEL_CLOSE_TIMEOUT.set(server, ClientLimits.NEVER);

    CoreModuleProperties.AUTH_TIMEOUT.set(server, ClientLimits.LOGIN);
    CoreModuleProperties.MAX_AUTH_REQUESTS.set(server, ClientLimits.AUTHENTICATION_ATTEMPTS);

    CoreModuleProperties.WINDOW_SIZE.set(server, ClientLimits.WINDOW_BYTES);
    CoreModuleProperties.MAX_PACKET_SIZE.set(server, (long) ClientLimits.PACKET_BYTES);
    // Protection against traffic analysis is not needed on the loopback interface.
    CoreModuleProperties.IGNORE_MESSAGE_FREQUENCY.set(server, 0L);
  }
}
