package dev.gpush.link.tunnel;

import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.link.BlockingStream;
import dev.gpush.link.Link;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import javax.net.ssl.SSLSocket;

/**
 * A pipe to the agent of a node, through the agent at the end of another node's link: a stream of
 * that link with TLS within. Both ends are authenticated before it is returned.
 */
public final class NodeTunnel implements Pipe {
  /** The type of its stream. */
  private static final String TYPE = "tunnel";

  /**
   * How much a node may send before the gateway has read it: all its streams share that, and credit
   * for more takes up to 40 ms through an srun.
   */
  private static final int MOST_WINDOW = 1 << 20;

  /**
   * The windows of all tunnels of a link together: half of the memory that its streams may take.
   */
  private static final int ALL_WINDOWS = 64 << 20;

  /** A tunnel has no command with an exit status. */
  private static final int BROKEN = 255;

  /** 64 hex digits and the end of their line. */
  private static final int WORD_BYTES = 65;

  private final BlockingStream stream;
  private final SSLSocket tls;
  private final boolean holdsBack;
  private final OutputStream input;
  private final InputStream output;

  private NodeTunnel(BlockingStream stream, boolean holdsBack, SSLSocket tls) throws IOException {
    this.stream = stream;
    this.holdsBack = holdsBack;
    this.tls = tls;
    this.input = tls.getOutputStream();
    this.output = tls.getInputStream();
  }

  /**
   * Blocks until the node's agent has answered; waits for the link between if it is cut.
   *
   * @param between the link to node 0
   * @param nodes of the gang
   * @throws dev.gpush.core.failure.GpushException with {@code Refused}: {@code no-line} and {@code
   *     timeout} (node 0 does not hear of that node, or the node cannot dial it), {@code no-tls}
   *     (its Python has no ssl), {@code unreachable}, {@code limit}, {@code no-key}; with {@code
   *     LinkOver} when the link between is over
   */
  public static NodeTunnel open(Link between, int node, int nodes, TunnelCertificate certificate)
      throws IOException, InterruptedException {
    int window = Math.min(MOST_WINDOW, ALL_WINDOWS / nodes);
    Json.Obj request =
        Json.object("type", TYPE, "node", node, "pin", certificate.pin(), "credit", window);
    BlockingStream stream = between.open(request);
    boolean isOpen = false;
    try {
      String expected = stream.awaitOpened().text("expect").orElse("");
      var beneath = new StreamSocket(stream);
      var tls = (SSLSocket) certificate.sockets().createSocket(beneath, null, true);
      tls.setUseClientMode(false);
      tls.startHandshake();
      var tunnel = new NodeTunnel(stream, between.holdsBack(), tls);
      requireWord(tunnel.output.readNBytes(WORD_BYTES), expected, node);
      isOpen = true;
      return tunnel;
    } finally {
      if (!isOpen) {
        stream.close();
      }
    }
  }

  /** Node 0 has sent the hash; only the node's agent knows the text. */
  private static void requireWord(byte[] said, String expected, int node) throws IOException {
    String word = new String(said, StandardCharsets.US_ASCII).strip();
    String hash = TunnelCertificate.sha256(word.getBytes(StandardCharsets.US_ASCII));
    if (!MessageDigest.isEqual(
        hash.getBytes(StandardCharsets.US_ASCII), expected.getBytes(StandardCharsets.US_ASCII))) {
      throw new IOException("what answers in the tunnel is not the agent of node " + node);
    }
  }

  @Override
  public OutputStream input() {
    return input;
  }

  @Override
  public InputStream output() {
    return output;
  }

  /** As the pipe around it does. */
  @Override
  public boolean holdsBack() {
    return holdsBack;
  }

  @Override
  public InputStream errors() {
    return InputStream.nullInputStream();
  }

  @Override
  public int await() throws InterruptedException {
    stream.awaitClose();
    return BROKEN;
  }

  /**
   * Closes the stream first: a writer that is blocked in the tunnel would keep TLS from closing.
   */
  @Override
  public void close() throws IOException {
    stream.close();
    tls.close();
  }
}
