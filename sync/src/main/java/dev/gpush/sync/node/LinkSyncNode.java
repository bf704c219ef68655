package dev.gpush.sync.node;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.link.BlockingStream;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.io.InputStream;
import java.io.OutputStream;

/** A node that is reached over its link: {@code files} runs as a builtin of its agent. */
public final class LinkSyncNode implements SyncNode {
  /**
   * How much the node may send ahead: an index of some ten thousand files, without waiting for
   * credit.
   */
  private static final int WINDOW_BYTES = 1 << 20;

  private final NodeInfo info;
  private final Link link;

  public LinkSyncNode(NodeInfo info, Link link) {
    this.info = info;
    this.link = link;
  }

  @Override
  public NodeInfo info() {
    return info;
  }

  @Override
  public boolean isReachable() {
    return link.state() instanceof LinkState.Up;
  }

  @Override
  public boolean isHere() {
    return link.isHere();
  }

  @Override
  public Duplex open() throws InterruptedException {
    BlockingStream stream =
        // Not killed with its stream: a commit may be on its way.
        link.openReady(
            Json.object("type", "exec", "builtin", "files", "stdin", true, "credit", WINDOW_BYTES));
    return new LinkDuplex(stream);
  }

  private record LinkDuplex(BlockingStream stream) implements Duplex {
    @Override
    public InputStream in() {
      return stream.output(0);
    }

    @Override
    public OutputStream out() {
      return stream.input();
    }

    @Override
    public void close() {
      stream.close();
    }
  }
}
