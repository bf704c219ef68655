package dev.gpush.gateway.ssh.files;

import java.security.MessageDigest;
import java.security.PublicKey;
import org.apache.sshd.common.util.buffer.ByteArrayBuffer;
import org.apache.sshd.server.auth.pubkey.PublickeyAuthenticator;
import org.apache.sshd.server.session.ServerSession;

/**
 * Accepts a client that has this home's user key, whatever the user name: names are looked up only
 * after the key was proved, so other clients cannot learn which sessions there are, not even from
 * the time of an answer.
 */
public final class OwnKey implements PublickeyAuthenticator {
  private final byte[] accepted;

  public OwnKey(PublicKey accepted) {
    this.accepted = encoded(accepted);
  }

  @Override
  public boolean authenticate(String user, PublicKey key, ServerSession session) {
    return MessageDigest.isEqual(accepted, encoded(key));
  }

  private static byte[] encoded(PublicKey key) {
    var buffer = new ByteArrayBuffer();
    buffer.putRawPublicKey(key);
    return buffer.getCompactData();
  }
}
