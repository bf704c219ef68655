package dev.gpush.core.machine;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** A pipe whose outputs are read through a filter; everything else is passed to the other pipe. */
public abstract class PipeAround implements Pipe {
  private final Pipe pipe;
  private final InputStream output;
  private final InputStream errors;

  protected PipeAround(Pipe pipe, InputStream output, InputStream errors) {
    this.pipe = pipe;
    this.output = output;
    this.errors = errors;
  }

  @Override
  public final OutputStream input() {
    return pipe.input();
  }

  @Override
  public boolean holdsBack() {
    return pipe.holdsBack();
  }

  @Override
  public final InputStream output() {
    return output;
  }

  @Override
  public final InputStream errors() {
    return errors;
  }

  @Override
  public final int await() throws InterruptedException {
    return pipe.await();
  }

  @Override
  public void close() throws IOException {
    pipe.close();
  }
}
