package dev.gpush.link.hub;

import dev.gpush.core.machine.Pipe;
import dev.gpush.link.BlockingStream;
import java.io.InputStream;
import java.io.OutputStream;

/** A command of the hub: one exec stream. */
final class StreamPipe implements Pipe {
  /** The status when the connection to it broke, or when a signal ended it. */
  private static final int BROKEN = 255;

  private final BlockingStream stream;

  StreamPipe(BlockingStream stream) {
    this.stream = stream;
  }

  @Override
  public OutputStream input() {
    return stream.input();
  }

  @Override
  public InputStream output() {
    return stream.output(0);
  }

  @Override
  public InputStream errors() {
    return stream.output(1);
  }

  @Override
  public int await() throws InterruptedException {
    return stream.awaitClose().integer("exit").orElse(BROKEN);
  }

  @Override
  public void close() {
    stream.close();
  }
}
