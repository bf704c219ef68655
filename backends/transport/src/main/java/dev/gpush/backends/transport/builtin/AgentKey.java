package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.builtin.SshAgent.Identity;
import java.io.IOException;
import net.schmizz.sshj.common.Buffer;
import net.schmizz.sshj.common.Message;
import net.schmizz.sshj.common.SSHPacket;
import net.schmizz.sshj.userauth.UserAuthException;
import net.schmizz.sshj.userauth.method.AbstractAuthMethod;

/**
 * Offers a key of the agent: first without a signature, since signing may ask its owner, then with
 * one, on the thread that logs in: the library would sign on the one that reads from the network.
 */
final class AgentKey extends AbstractAuthMethod {
  private final SshAgent agent;
  private final Identity identity;
  private final boolean isSigned;

  AgentKey(SshAgent agent, Identity identity, boolean isSigned) {
    super("publickey");
    this.agent = agent;
    this.identity = identity;
    this.isSigned = isSigned;
  }

  /** The server would take the key. */
  static final class Wanted extends UserAuthException {
    private static final long serialVersionUID = 1;

    private final transient AgentKey signed;

    Wanted(AgentKey signed) {
      super("wanted");
      this.signed = signed;
    }

    AgentKey signed() {
      return signed;
    }
  }

  @Override
  protected SSHPacket buildReq() throws UserAuthException {
    SSHPacket packet = super.buildReq();
    packet.putBoolean(isSigned).putString(identity.algorithm()).putString(identity.blob());
    if (isSigned) {
      byte[] signed =
          new Buffer.PlainBuffer()
              .putString(params.getTransport().getSessionID())
              .putBuffer(packet)
              .getCompactData();
      try {
        packet.putString(agent.sign(identity, signed));
      } catch (IOException refused) {
        throw new UserAuthException("the agent does not sign", refused);
      }
    }
    return packet;
  }

  @Override
  public void handle(Message message, SSHPacket packet) throws UserAuthException {
    if (message == Message.USERAUTH_60 && !isSigned) {
      throw new Wanted(new AgentKey(agent, identity, true));
    }
    throw new UserAuthException("an answer that does not belong: " + message);
  }
}
