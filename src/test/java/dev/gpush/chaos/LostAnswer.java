package dev.gpush.chaos;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/**
 * The command does its work, and the way back is cut: for a submission when it is done, for
 * anything else at the first byte, because some commands never end.
 */
record LostAnswer(Pipe pipe, List<String> arguments) implements PipeAround {
  LostAnswer {
    arguments = List.copyOf(arguments);
  }

  @Override
  public InputStream output() {
    return new InputStream() {
      @Override
      public int read() throws IOException {
        if (arguments.contains("--dependency=singleton")) {
          pipe.output().readAllBytes();
        } else if (pipe.output().read() < 0) {
          return -1;
        }
        pipe.close();
        throw new IOException("the connection was lost");
      }

      @Override
      public int read(byte[] into, int offset, int length) throws IOException {
        return read();
      }
    };
  }
}
