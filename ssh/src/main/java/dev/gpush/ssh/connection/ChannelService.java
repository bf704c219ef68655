package dev.gpush.ssh.connection;

import java.io.IOException;
import org.apache.sshd.common.Service;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.channel.Channel;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.server.session.AbstractServerSession;
import org.apache.sshd.server.session.ServerConnectionService;
import org.apache.sshd.server.session.ServerConnectionServiceFactory;

/**
 * The channels of one connection, of which the client may refuse those that we open. SSHD expects a
 * refusal only of the channels of its own client, and would end the connection with all channels.
 */
public final class ChannelService extends ServerConnectionService {
  private ChannelService(AbstractServerSession session) throws IOException {
    super(session);
  }

  /** Makes one for each connection. */
  public static final class Factory extends ServerConnectionServiceFactory {
    @Override
    public Service create(Session session) throws IOException {
      return new ChannelService((AbstractServerSession) session);
    }
  }

  @Override
  public void channelOpenFailure(Buffer buffer) throws IOException {
    Channel refused = getChannel(SshConstants.SSH_MSG_CHANNEL_OPEN_FAILURE, buffer);
    if (refused != null) {
      unregisterChannel(refused);
      refused.handleOpenFailure(buffer);
    }
  }
}
