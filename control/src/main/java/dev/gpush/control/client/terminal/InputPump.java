package dev.gpush.control.client.terminal;

import dev.gpush.control.wire.ControlFrameWriter;
import dev.gpush.control.wire.Kind;
import dev.gpush.control.wire.Payload;
import java.io.IOException;
import java.util.Optional;

/**
 * Reads standard input as far as it was requested, and answers to questions, on a thread that is
 * started at the first request.
 */
public final class InputPump {
  private final ControlFrameWriter writer;
  private final Console console;

  // guarded by this
  private long credit;
  private Thread reader = Thread.currentThread();
  private boolean started;
  private Thread asker = Thread.currentThread();
  private boolean asking;
  private boolean stopped;

  public InputPump(ControlFrameWriter writer, Console console) {
    this.writer = writer;
    this.console = console;
  }

  /** That many more bytes may be sent. */
  public synchronized void want(int more) {
    credit += Math.max(0, more);
    if (!started) {
      started = true;
      reader = daemon("gpush-input", this::pump);
      reader.start();
    }
    notifyAll();
  }

  /** Asks on its own thread, because other frames, also EXIT, still arrive. */
  public synchronized void ask(String question, boolean hidden) {
    asking = true;
    asker =
        daemon(
            "gpush-question",
            () -> {
              Optional<String> line = console.ask(question, hidden);
              try {
                writer.write(
                    new Payload().flag(line.isPresent()).text(line.orElse("")).frame(Kind.ANSWER));
              } catch (IOException overAlready) {
                // The main thread notices.
              }
            });
    asker.start();
  }

  public synchronized void stop() {
    stopped = true;
    notifyAll();
    if (started) {
      reader.interrupt();
    }
    if (asking) {
      asker.interrupt();
    }
  }

  private void pump() {
    byte[] buffer = new byte[Kind.CHUNK];
    try {
      while (true) {
        int allowed = await();
        if (allowed == 0) {
          return;
        }
        int count;
        try {
          count = console.read(buffer, Math.min(allowed, buffer.length));
        } catch (IOException unreadable) {
          count = -1;
        }
        if (isStopped()) {
          return;
        }
        if (count < 0) {
          writer.write(new Payload().frame(Kind.INPUT_END));
          return;
        }
        spend(count);
        writer.write(Kind.INPUT, buffer, count);
      }
    } catch (IOException overAlready) {
      // The main thread notices.
    } catch (InterruptedException over) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized int await() throws InterruptedException {
    while (credit == 0 && !stopped) {
      wait();
    }
    return stopped ? 0 : (int) Math.min(credit, Integer.MAX_VALUE);
  }

  private synchronized void spend(int count) {
    credit -= count;
  }

  private synchronized boolean isStopped() {
    return stopped;
  }

  private static Thread daemon(String name, Runnable work) {
    var thread = new Thread(null, work, name, 0, false);
    thread.setDaemon(true);
    return thread;
  }
}
