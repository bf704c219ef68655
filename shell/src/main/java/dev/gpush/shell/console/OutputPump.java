package dev.gpush.shell.console;

import dev.gpush.core.run.LineBlock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes a run's output, line by line, as fast as the reader accepts it.
 *
 * <p>A write per line is slow (each is a frame on the control socket), and a buffer that waits for
 * more would delay a single line. So lines are gathered only while the previous batch is being
 * written: a quiet run is written line by line, a busy one in large pieces, without timers. A
 * reader that is slower than the run makes {@link #write} wait, which delays only this follower.
 */
public final class OutputPump implements AutoCloseable {
  /** One batch; two of them exist. Larger ones are no faster on a local socket. */
  private static final int BATCH = 256 * 1024;

  private static final byte[] NONE = new byte[0];

  private final CommandConsole console;
  private final Tasks tasks = Tasks.named("output", (_, _) -> {});
  private final Task<Boolean, RuntimeException> writer;
  private String lastEvent = "";
  private final Object lock = new Object();

  // guarded by lock:
  private byte[] gathered = new byte[8192];
  private int length;
  private boolean error;
  private boolean ended;
  private boolean broken;

  /** Starts the writer; the pump must be closed. */
  public OutputPump(CommandConsole console) {
    this.console = console;
    this.writer =
        tasks.fork(
            "writer",
            () -> {
              writeAll();
              return true;
            });
  }

  /** Something that happened to the run, unless it was the last one, too: all nodes tell of it. */
  void event(String text, boolean toError, String line) {
    if (!text.equals(lastEvent)) {
      lastEvent = text;
      write(toError, NONE, line.getBytes(StandardCharsets.UTF_8));
    }
  }

  /** A line: a prefix and a text without its line feed. */
  void write(boolean toError, byte[] prefix, byte[] text) {
    synchronized (lock) {
      awaitRoom(toError, prefix.length + text.length + 1);
      put(prefix, 0, prefix.length);
      put(text, 0, text.length);
      gathered[length++] = '\n';
      lock.notifyAll();
    }
  }

  /** Several lines, each after the prefix. */
  void writeAll(boolean toError, byte[] prefix, LineBlock lines) {
    synchronized (lock) {
      for (int start = lines.from(); start < lines.to(); ) {
        int end = lines.endOfLine(start);
        awaitRoom(toError, prefix.length + end - start);
        put(prefix, 0, prefix.length);
        put(lines.bytes(), start, end);
        start = end;
      }
      lock.notifyAll();
    }
  }

  /**
   * The gathered lines go to one stream; a line for the other one, or one too many, waits for the
   * writer.
   */
  private void awaitRoom(boolean toError, int more) {
    while (!broken && length > 0 && (error != toError || length + more > BATCH)) {
      lock.notifyAll();
      try {
        lock.wait();
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new ReaderGone(stop); // For this thread; others go on writing.
      }
    }
    if (broken) {
      throw new ReaderGone(new IOException("found out while writing an earlier line"));
    }
    if (length + more > gathered.length) {
      gathered =
          Arrays.copyOf(gathered, Math.max(length + more, Math.min(BATCH, 2 * gathered.length)));
    }
    error = toError;
  }

  private void put(byte[] bytes, int from, int to) {
    System.arraycopy(bytes, from, gathered, length, to - from);
    length += to - from;
  }

  private void writeAll() throws InterruptedException {
    byte[] spare = new byte[8192];
    while (true) {
      byte[] batch;
      int size;
      boolean toError;
      synchronized (lock) {
        while (length == 0 && !ended) {
          lock.wait();
        }
        if (length == 0) {
          return;
        }
        batch = gathered;
        size = length;
        toError = error;
        gathered = spare;
        length = 0;
        lock.notifyAll();
      }
      try {
        console.write(toError, batch, size);
      } catch (ReaderGone gone) {
        synchronized (lock) {
          broken = true;
          lock.notifyAll();
        }
        throw gone;
      }
      spare = batch;
    }
  }

  /** Returns when everything is written, or cannot be. */
  @Override
  public void close() {
    synchronized (lock) {
      ended = true;
      lock.notifyAll();
    }
    try {
      if (!Thread.currentThread().isInterrupted()) {
        writer.get();
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (ReaderGone gone) {
      // write() reports it to its caller.
    } finally {
      tasks.close();
    }
  }
}
