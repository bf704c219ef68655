package dev.gpush.launch.journal;

import dev.gpush.core.run.LineBlock;
import dev.gpush.core.run.RunOutput;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What one command prints on several nodes, as one output in the order in which it arrives, with
 * the node in place of the rank. Thread-safe: each stream of a node has its own thread, and the
 * output is called by one of them at a time.
 */
public final class NodeOutput {
  private static final int BUFFER = 64 * 1024;

  private final RunOutput output;

  /** Held while the output is called: that is what keeps it to one thread at a time. */
  private final ReentrantLock lock = new ReentrantLock();

  public NodeOutput(RunOutput output) {
    this.output = output;
  }

  /** Gives the lines of one stream until it ends. */
  public boolean copy(InputStream from, int node, boolean isError) throws IOException {
    Splitter splitter = splitter(node, isError);
    byte[] buffer = new byte[BUFFER];
    for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
      byte[] payload = Arrays.copyOf(buffer, count);
      locked(() -> splitter.feed(payload));
    }
    locked(splitter::end);
    return true;
  }

  private void locked(Runnable giving) {
    lock.lock();
    try {
      giving.run();
    } finally {
      lock.unlock();
    }
  }

  private Splitter splitter(int node, boolean isError) {
    Splitter.Lines lines =
        new Splitter.Lines() {
          @Override
          public void line(byte[] text) {
            output.line(node, node, isError, text);
          }

          @Override
          public void lines(LineBlock lines) {
            output.lines(node, node, isError, lines);
          }

          @Override
          public void rewriting(byte[] text) {
            output.rewriting(node, node, isError, text);
          }
        };
    return output.isScreen() ? new ScreenSplitter(lines) : new LineSplitter(lines);
  }
}
