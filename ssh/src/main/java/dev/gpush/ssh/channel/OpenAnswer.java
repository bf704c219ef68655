package dev.gpush.ssh.channel;

import dev.gpush.ssh.connection.ClientLimits;
import java.io.IOException;
import java.util.Optional;
import org.apache.sshd.client.future.DefaultOpenFuture;
import org.apache.sshd.client.future.OpenFuture;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.channel.AbstractChannel;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.helpers.AbstractConnectionService;
import org.apache.sshd.common.util.buffer.Buffer;

/**
 * Answers a client that wants to open a channel. Refusals are sent here, because SSHD would send
 * "Generic error" whatever the reason; the future that SSHD waits for is then never completed.
 */
final class OpenAnswer {
  private OpenAnswer() {}

  /** Whether the connection has more channels than it may, the one in question included. */
  static boolean isFull(Session session) {
    var service = session.getService(AbstractConnectionService.class);
    return service.getChannels().size() > ClientLimits.CHANNELS;
  }

  /**
   * The refusal if the connection has all the channels it may have; this one is counted already.
   */
  static Optional<OpenFuture> refusalOfOneTooMany(AbstractChannel channel) {
    return isFull(channel.getSession())
        ? Optional.of(
            refuse(
                channel,
                SshConstants.SSH_OPEN_RESOURCE_SHORTAGE,
                "this connection has " + ClientLimits.CHANNELS + " channels"))
        : Optional.empty();
  }

  static OpenFuture refuse(AbstractChannel channel, int code, String text) {
    try {
      Buffer packet = channel.getSession().createBuffer(SshConstants.SSH_MSG_CHANNEL_OPEN_FAILURE);
      packet.putUInt(channel.getRecipient());
      packet.putUInt(code);
      packet.putString(text);
      packet.putString("");
      channel.getSession().writePacket(packet);
    } catch (IOException gone) {
      // The client is gone.
    }
    channel.close(true);
    return pending(channel);
  }

  /** For an answer that comes later, or was given already. */
  static OpenFuture pending(AbstractChannel channel) {
    return new DefaultOpenFuture(channel.getChannelId(), new Object());
  }
}
