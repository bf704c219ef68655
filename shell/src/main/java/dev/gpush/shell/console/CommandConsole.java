package dev.gpush.shell.console;

import dev.gpush.shell.text.Look;
import dev.gpush.shell.text.Width;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * The one writer to a command's standard output and standard error, so that a progress line,
 * messages and output never mix within a line. Thread-safe. When standard output is no longer read,
 * writing to it throws {@link ReaderGone}, which ends the command; messages for a standard error
 * without a reader are dropped, because they are no reason to fail.
 */
public final class CommandConsole {
  private static final String ERASE = "\r\u001b[K";

  private final OutputStream out;
  private final OutputStream err;
  private final Look look;

  // guarded by this: the streams, and
  private String shown = "";
  private boolean mute;

  public CommandConsole(OutputStream out, OutputStream err, Look look) {
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

  /** A line of a message. */
  public void err(String line) {
    write(true, bytes(line + "\n"));
  }

  /** Bytes unchanged; whole lines, except the last. */
  public void write(boolean error, byte[] bytes) {
    write(error, bytes, bytes.length);
  }

  /** The first {@code length} bytes as they are. */
  public synchronized void write(boolean error, byte[] bytes, int length) {
    String hidden = shown;
    if (!hidden.isEmpty()) {
      erase();
    }
    if (error) {
      talk(bytes, length);
    } else {
      data(bytes, length);
    }
    if (!hidden.isEmpty()) {
      draw(hidden);
    }
  }

  /** Replaces the progress line; empty takes it away. Only for a look with progress. */
  public synchronized void progress(String line) {
    if (line.isEmpty() && !shown.isEmpty()) {
      erase();
    } else if (!line.isEmpty()) {
      draw(line);
    }
  }

  /** Removes what the terminal itself wrote into the line, such as ^C. */
  public void freshLine() {
    if (look.progress()) {
      synchronized (this) {
        talk(ERASE);
      }
    }
  }

  private void data(byte[] bytes, int length) {
    try {
      out.write(bytes, 0, length);
      out.flush();
    } catch (IOException gone) {
      throw new ReaderGone(gone);
    }
  }

  private void talk(byte[] bytes, int length) {
    if (mute) {
      return;
    }
    try {
      err.write(bytes, 0, length);
      err.flush();
    } catch (IOException gone) {
      mute = true;
    }
  }

  private void talk(String text) {
    byte[] bytes = bytes(text);
    talk(bytes, bytes.length);
  }

  private void erase() {
    talk(ERASE);
    shown = "";
  }

  private void draw(String line) {
    int columns = look.errorColumns() == 0 ? 80 : look.errorColumns();
    talk("\r" + look.dim(Width.cut(line, columns - 1)) + "\u001b[K");
    shown = line;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
