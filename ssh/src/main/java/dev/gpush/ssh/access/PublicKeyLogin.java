package dev.gpush.ssh.access;

import org.apache.sshd.common.config.keys.OpenSshCertificate;
import org.apache.sshd.server.auth.pubkey.UserAuthPublicKey;
import org.apache.sshd.server.auth.pubkey.UserAuthPublicKeyFactory;
import org.apache.sshd.server.session.ServerSession;

/**
 * SSHD's authentication by public key, which checks signatures. It refuses every certificate with
 * {@code force-command}; here {@link LoginKeys} decides about critical options.
 */
public final class PublicKeyLogin extends UserAuthPublicKeyFactory {
  @Override
  public UserAuthPublicKey createUserAuth(ServerSession session) {
    return new Attempt();
  }

  private static final class Attempt extends UserAuthPublicKey {
    @Override
    protected void verifyCriticalOptions(ServerSession session, OpenSshCertificate certificate) {
      // Called before the key is judged; CertificateCheck looks at all of them.
    }
  }
}
