package dev.gpush.backends.transport.builtin;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import net.schmizz.sshj.common.Buffer;

/** The user's ssh agent: which keys it has, and signatures. sshj 0.40 cannot use one. */
final class SshAgent implements AutoCloseable {
  private static final byte REQUEST_IDENTITIES = 11;
  private static final byte IDENTITIES = 12;
  private static final byte SIGN = 13;
  private static final byte SIGNATURE = 14;

  /** A flag: sign with SHA-512. */
  private static final int SHA2_512 = 4;

  /** OpenSSH's own limit for a message. */
  private static final int MOST_BYTES = 256 * 1024;

  /** A server refuses a login after far fewer. */
  private static final int MOST_KEYS = 256;

  private final SocketChannel channel;

  private SshAgent(SocketChannel channel) {
    this.channel = channel;
  }

  static SshAgent open(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(socket));
      return new SshAgent(channel);
    } catch (IOException | IllegalArgumentException unreachable) {
      channel.close();
      throw new IOException("no agent at " + socket, unreachable);
    }
  }

  /**
   * A key that the agent has.
   *
   * @param kind such as ssh-ed25519
   * @param key the public key, or the certificate, in Base64 as files have it
   */
  record Identity(String kind, String key) {
    byte[] blob() {
      return Base64.getDecoder().decode(key);
    }

    boolean isRsa() {
      return kind.startsWith("ssh-rsa");
    }

    String algorithm() {
      return isRsa() ? kind.replaceFirst("ssh-rsa", "rsa-sha2-512") : kind;
    }
  }

  List<Identity> identities() throws IOException {
    Buffer.PlainBuffer answer =
        ask(new Buffer.PlainBuffer().putByte(REQUEST_IDENTITIES), IDENTITIES);
    long count = Math.min(answer.readUInt32(), MOST_KEYS);
    var identities = new ArrayList<Identity>();
    for (int i = 0; i < count; i++) {
      byte[] blob = answer.readStringAsBytes();
      String kind = new Buffer.PlainBuffer(blob).readString();
      identities.add(new Identity(kind, Base64.getEncoder().encodeToString(blob)));
      // A comment, of no use here.
      answer.readString();
    }
    return identities;
  }

  /** A signature, in the form that goes over the wire; the agent may ask the user first. */
  byte[] sign(Identity identity, byte[] data) throws IOException {
    return ask(
            new Buffer.PlainBuffer()
                .putByte(SIGN)
                .putString(identity.blob())
                .putString(data)
                .putUInt32(identity.isRsa() ? SHA2_512 : 0),
            SIGNATURE)
        .readStringAsBytes();
  }

  private Buffer.PlainBuffer ask(Buffer.PlainBuffer request, byte expected) throws IOException {
    ByteBuffer message =
        ByteBuffer.wrap(
            new Buffer.PlainBuffer().putString(request.getCompactData()).getCompactData());
    while (message.hasRemaining()) {
      channel.write(message);
    }
    int length = read(4).getInt();
    if (length < 1 || length > MOST_BYTES) {
      throw new IOException("the agent's answer has " + length + " bytes");
    }
    var answer = new Buffer.PlainBuffer(read(length).array());
    if (answer.readByte() != expected) {
      throw new IOException("the agent refuses");
    }
    return answer;
  }

  private ByteBuffer read(int length) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    while (bytes.hasRemaining()) {
      if (channel.read(bytes) < 0) {
        throw new EOFException("the agent has gone");
      }
    }
    return bytes.flip();
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
