package dev.gpush.backends.transport.builtin.keys;

import dev.gpush.backends.transport.builtin.keys.SshAgent.Identity;
import java.io.IOException;
import net.schmizz.sshj.common.Buffer;
import net.schmizz.sshj.common.Message;
import net.schmizz.sshj.common.SSHPacket;
import net.schmizz.sshj.userauth.UserAuthException;
import net.schmizz.sshj.userauth.method.AbstractAuthMethod;

/**
 * Offers a key of the agent: first without a signature, since signing may ask its owner; the server
 * that would take it is answered by a second offer, with one. Both on the thread that logs in: the
 * library would sign on the one that reads from the network.
 */
public final class KeyOffer extends AbstractAuthMethod {
  /** The agent is to sign with SHA-512. */
  private static final int SHA2_512 = 4;

  private final SshAgent agent;
  private final Identity identity;
  private final boolean isSigned;

  private KeyOffer(SshAgent agent, Identity identity, boolean isSigned) {
    super("publickey");
    this.agent = agent;
    this.identity = identity;
    this.isSigned = isSigned;
  }

  public static KeyOffer of(SshAgent agent, Identity identity) {
    return new KeyOffer(agent, identity, false);
  }

  public KeyOffer signed() {
    return new KeyOffer(agent, identity, true);
  }

  /** The server would take it. */
  public static final class Taken extends UserAuthException {
    Taken() {
      super("taken");
    }
  }

  @Override
  protected SSHPacket buildReq() throws UserAuthException {
    SSHPacket packet = super.buildReq();
    packet.putBoolean(isSigned).putString(algorithm()).putString(identity.blob());
    if (isSigned) {
      byte[] signed =
          new Buffer.PlainBuffer()
              .putString(params.getTransport().getSessionID())
              .putBuffer(packet)
              .getCompactData();
      try {
        packet.putString(agent.sign(identity.blob(), signed, isRsa() ? SHA2_512 : 0));
      } catch (IOException refused) {
        throw new UserAuthException("the agent does not sign", refused);
      }
    }
    return packet;
  }

  private boolean isRsa() {
    return identity.kind().startsWith("ssh-rsa");
  }

  private String algorithm() {
    return identity.kind().replaceFirst("^ssh-rsa", "rsa-sha2-512");
  }

  @Override
  public void handle(Message message, SSHPacket packet) throws UserAuthException {
    if (message == Message.USERAUTH_60 && !isSigned) {
      throw new Taken();
    }
    throw new UserAuthException("an answer that does not belong: " + message);
  }
}
