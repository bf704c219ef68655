package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import dev.gpush.control.place.Origin;
import dev.gpush.control.server.Invocation;
import dev.gpush.control.wire.Facts;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.text.LineStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.jline.terminal.Terminal;

/** Has gpush's own handler carry out the lines, with a desk's fakes behind it. */
final class DeskRunner {
  private final Desk desk;
  private final List<String> heard = new ArrayList<>();

  /** What a command that reads keys gets. */
  final BlockingQueue<String> keys = new LinkedBlockingQueue<>();

  DeskRunner(Desk desk) {
    this.desk = desk;
  }

  CommandRunner in(Origin origin, Terminal terminal) {
    return new OnTerminal(origin, terminal);
  }

  /** Waits until the watch of the shell has such a line. */
  void awaitHeard(String text) throws InterruptedException {
    synchronized (heard) {
      while (heard.stream().noneMatch(line -> line.contains(text))) {
        heard.wait();
      }
    }
  }

  private final class OnTerminal implements CommandRunner {
    private final Origin origin;
    private final Terminal terminal;

    OnTerminal(Origin origin, Terminal terminal) {
      this.origin = origin;
      this.terminal = terminal;
    }

    @Override
    public int run(List<String> words) {
      Facts facts =
          Facts.of(
              Facts.Terminals.all(),
              terminal.getColumns(),
              terminal.getRows(),
              origin.environment());
      return desk.call(new Call(words, origin, facts, terminal.output(), terminal.output()));
    }

    @Override
    public Captured ask(List<String> words) {
      var out = new ByteArrayOutputStream();
      var err = new ByteArrayOutputStream();
      int status = desk.call(new Call(words, origin, Facts.NONE, out, err));
      return new Captured(
          status, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    @Override
    public Optional<Captured> askIfRunning(List<String> words) {
      return Optional.of(ask(words));
    }

    @Override
    public void follow(List<String> words, Consumer<String> lines) {
      var out =
          new LineStream(
              64 * 1024,
              line -> {
                lines.accept(line);
                synchronized (heard) {
                  heard.add(line);
                  heard.notifyAll();
                }
              });
      var watch = new Call(words, origin, Facts.NONE, out, OutputStream.nullOutputStream());
      if (desk.call(watch) == ExitStatus.INTERRUPTED.number()) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public int local(String line) {
      throw new UnsupportedOperationException(line);
    }
  }

  /** A command as it comes from a client. */
  private final class Call implements Invocation {
    private final List<String> words;
    private final Origin origin;
    private final Facts facts;
    private final OutputStream out;
    private final OutputStream err;

    Call(List<String> words, Origin origin, Facts facts, OutputStream out, OutputStream err) {
      this.words = words;
      this.origin = origin;
      this.facts = facts;
      this.out = out;
      this.err = err;
    }

    @Override
    public List<String> arguments() {
      return words;
    }

    @Override
    public Path folder() {
      return origin.folder();
    }

    @Override
    public Map<String, String> environment() {
      return origin.environment();
    }

    @Override
    public Facts facts() {
      return facts;
    }

    @Override
    public Optional<String> ask(String question, boolean hidden) {
      return Optional.empty();
    }

    @Override
    public int spawn(List<String> command, Map<String, String> environment) {
      throw new UnsupportedOperationException(command.toString());
    }

    @Override
    public void onDetach(Runnable listener) {}

    @Override
    public void onSignal(Consumer<String> listener) {}

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public void onlyWatches() {}

    @Override
    public boolean isConnected() {
      return true;
    }

    @Override
    public InputStream in() {
      return new Keys();
    }

    @Override
    public OutputStream out() {
      return out;
    }

    @Override
    public OutputStream err() {
      return err;
    }

    @Override
    public Optional<Terminal> terminal() {
      return facts.out() ? Optional.of(new Window()) : Optional.empty();
    }

    private final class Window implements Terminal {
      @Override
      public String type() {
        return facts.type();
      }

      @Override
      public int columns() {
        return facts.columns();
      }

      @Override
      public int rows() {
        return facts.rows();
      }

      @Override
      public Raw raw() {
        return () -> {};
      }
    }
  }

  private final class Keys extends InputStream {
    @Override
    public int read() throws IOException {
      byte[] one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : one[0];
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      try {
        byte[] typed = keys.take().getBytes(StandardCharsets.UTF_8);
        System.arraycopy(typed, 0, bytes, offset, typed.length);
        return typed.length;
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException();
      }
    }
  }
}
