package dev.gpush.backends.transport.builtin.keys;

import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** Asks the user's ssh agent: which keys it has, and for signatures. sshj 0.40 cannot. */
public final class SshAgent implements AutoCloseable {
  private static final byte REQUEST_IDENTITIES = 11;
  private static final byte IDENTITIES = 12;
  private static final byte SIGN = 13;
  private static final byte SIGNATURE = 14;

  /** OpenSSH's own limit of a message. */
  private static final int MOST_BYTES = 256 * 1024;

  /** A server gives up long before. */
  private static final int MOST_KEYS = 256;

  private final SocketChannel channel;

  private SshAgent(SocketChannel channel) {
    this.channel = channel;
  }

  public static SshAgent open(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.connect(UnixDomainSocketAddress.of(socket));
      return new SshAgent(channel);
    } catch (IOException | IllegalArgumentException nobody) {
      channel.close();
      throw new IOException("no agent at " + socket, nobody);
    }
  }

  /**
   * A key that the agent has.
   *
   * @param key the public key, or the certificate, in Base64 as files have it
   */
  public record Identity(String key) {
    byte[] blob() {
      return Base64.getDecoder().decode(key);
    }

    /** Such as ssh-ed25519: what the blob begins with. */
    String kind() {
      ByteBuffer bytes = ByteBuffer.wrap(blob());
      return new String(text(bytes), StandardCharsets.US_ASCII);
    }
  }

  public List<Identity> identities() throws IOException {
    ByteBuffer answer = ask(ByteBuffer.wrap(new byte[] {REQUEST_IDENTITIES}), IDENTITIES);
    try {
      int count = answer.getInt();
      var identities = new ArrayList<Identity>();
      for (int i = 0; i < count && i < MOST_KEYS; i++) {
        identities.add(new Identity(Base64.getEncoder().encodeToString(text(answer))));
        // The comment is its owner's.
        text(answer);
      }
      return identities;
    } catch (java.nio.BufferUnderflowException cut) {
      throw new IOException("the agent's answer is cut", cut);
    }
  }

  /**
   * A signature, in the form that goes over the wire; the agent may ask the user first.
   *
   * @param flags 4 for rsa-sha2-512
   */
  byte[] sign(byte[] blob, byte[] data, int flags) throws IOException {
    ByteBuffer request = ByteBuffer.allocate(1 + 4 + blob.length + 4 + data.length + 4);
    request.put(SIGN).putInt(blob.length).put(blob).putInt(data.length).put(data).putInt(flags);
    try {
      return text(ask(request.flip(), SIGNATURE));
    } catch (java.nio.BufferUnderflowException cut) {
      throw new IOException("the agent's answer is cut", cut);
    }
  }

  private ByteBuffer ask(ByteBuffer request, byte expected) throws IOException {
    ByteBuffer message = ByteBuffer.allocate(4 + request.remaining());
    message.putInt(request.remaining()).put(request).flip();
    while (message.hasRemaining()) {
      channel.write(message);
    }
    int length = read(4).getInt();
    if (length < 1 || length > MOST_BYTES) {
      throw new IOException("the agent's answer is too long");
    }
    ByteBuffer answer = read(length);
    if (answer.get() != expected) {
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

  private static byte[] text(ByteBuffer bytes) {
    int length = bytes.getInt();
    if (length < 0 || length > bytes.remaining()) {
      throw new java.nio.BufferUnderflowException();
    }
    byte[] text = new byte[length];
    bytes.get(text);
    return text;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
