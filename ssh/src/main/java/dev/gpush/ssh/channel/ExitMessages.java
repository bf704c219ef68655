package dev.gpush.ssh.channel;

import java.io.IOException;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.channel.AbstractChannel;
import org.apache.sshd.common.util.buffer.Buffer;

/** What a client is told about the end of its program, and SSHD has no calls for. */
record ExitMessages(AbstractChannel channel) {
  /** The client's input is no longer read. Only OpenSSH's clients know this request. */
  void sendEndOfWrite() throws IOException {
    boolean isOpenSsh =
        String.valueOf(channel.getSession().getClientVersion()).contains("-OpenSSH");
    if (isOpenSsh && !channel.isEofSignalled()) {
      channel.writePacket(request("eow@openssh.com"));
    }
  }

  void sendSignal(String name, boolean dumpedCore) throws IOException {
    Buffer packet = request("exit-signal");
    packet.putString(name);
    packet.putBoolean(dumpedCore);
    packet.putString("");
    packet.putString("");
    channel.writePacket(packet);
  }

  private Buffer request(String name) {
    Buffer packet = channel.getSession().createBuffer(SshConstants.SSH_MSG_CHANNEL_REQUEST);
    packet.putUInt(channel.getRecipient());
    packet.putString(name);
    packet.putBoolean(false);
    return packet;
  }
}
