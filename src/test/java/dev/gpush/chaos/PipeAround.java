package dev.gpush.chaos;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** A pipe that is another one; what differs is said where it is made. */
interface PipeAround extends Pipe {
  Pipe pipe();

  @Override
  default OutputStream input() {
    return pipe().input();
  }

  @Override
  default InputStream output() {
    return pipe().output();
  }

  @Override
  default InputStream errors() {
    return pipe().errors();
  }

  @Override
  default int await() throws InterruptedException {
    return pipe().await();
  }

  @Override
  default void close() throws IOException {
    pipe().close();
  }
}
