package dev.gpush.shell.render;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/**
 * The one writer to a command's standard output and standard error, so that a progress line, talk
 * and output never tear each other apart. Thread-safe. When the other end is gone, every method
 * throws {@link UncheckedIOException}, which ends the command.
 */
public final class Console {
  private static final String ERASE = "\r\u001b[K";

  private final OutputStream out;
  private final OutputStream err;
  private final Look look;
  private final Object lock = new Object();

  // guarded by lock: the streams, and
  private String shown = "";

  public Console(OutputStream out, OutputStream err, Look look) {
    this.out = out;
    this.err = err;
    this.look = look;
  }

  public Look look() {
    return look;
  }

  /** A line of data. */
  public void out(String line) {
    write(false, bytes(line + "\n"));
  }

  /** A line for people. */
  public void err(String line) {
    write(true, bytes(line + "\n"));
  }

  /** Bytes as they are, whole lines unless the very last. */
  public void write(boolean error, byte[] bytes) {
    write(error, bytes, bytes.length);
  }

  /** The first {@code length} bytes as they are. */
  public void write(boolean error, byte[] bytes, int length) {
    synchronized (lock) {
      try {
        String hidden = shown;
        if (!hidden.isEmpty()) {
          erase();
        }
        OutputStream stream = error ? err : out;
        stream.write(bytes, 0, length);
        stream.flush();
        if (!hidden.isEmpty()) {
          draw(hidden);
        }
      } catch (IOException gone) {
        throw new UncheckedIOException(gone);
      }
    }
  }

  /** Replaces the progress line; empty takes it away. Only for a look with progress. */
  public void progress(String line) {
    synchronized (lock) {
      try {
        if (line.isEmpty() && !shown.isEmpty()) {
          erase();
        } else if (!line.isEmpty()) {
          draw(line);
        }
      } catch (IOException gone) {
        throw new UncheckedIOException(gone);
      }
    }
  }

  private void erase() throws IOException {
    err.write(bytes(ERASE));
    err.flush();
    shown = "";
  }

  private void draw(String line) throws IOException {
    int columns = look.columns() == 0 ? 80 : look.columns();
    err.write(bytes("\r" + look.dim(Width.cut(line, columns - 1)) + "\u001b[K"));
    err.flush();
    shown = line;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
