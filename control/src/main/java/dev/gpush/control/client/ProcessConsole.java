package dev.gpush.control.client;

import dev.gpush.control.client.terminal.Console;
import dev.gpush.control.client.terminal.Stty;
import dev.gpush.control.place.Origin;
import dev.gpush.control.place.ThisProcess;
import dev.gpush.control.wire.Facts;
import dev.gpush.core.failure.ExitStatus;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/**
 * This process's own streams and terminal.
 *
 * <p>There are two ways to read: a process that runs for one request reads its standard input and
 * may be stuck in that read when it exits, which loses nothing. One that continues (the interactive
 * loop) reads the terminal through a channel that an interrupt closes, so that the next key goes to
 * the next reader.
 */
public final class ProcessConsole implements Console {
  private static final List<String> SIGNALS = List.of("INT", "TERM", "HUP", "WINCH");

  /** Ctrl-Z. */
  private static final String SUSPEND = "TSTP";

  /** The status that a shell gives when a program cannot be started. */
  private static final int NO_PROGRAM = 127;

  /** A line longer than this is no answer to a question. */
  private static final int ANSWER_BYTES = 4096;

  private final OutputStream out = new FileOutputStream(FileDescriptor.out);
  private final OutputStream err = new FileOutputStream(FileDescriptor.err);
  private final InputStream in = new FileInputStream(FileDescriptor.in);
  private final boolean once;
  private final Optional<Origin> shell;
  private final Stty stty = new Stty();
  private final AtomicReference<Optional<Process>> child = new AtomicReference<>(Optional.empty());
  private boolean hooked;
  private volatile Facts facts;

  private ProcessConsole(Facts facts, Optional<Origin> shell) {
    this.facts = facts;
    this.once = shell.isEmpty();
    this.shell = shell;
  }

  /** For a process that ends with its one request. */
  public static ProcessConsole once(Facts facts) {
    return new ProcessConsole(facts, Optional.empty());
  }

  /**
   * For a process that continues after the request. Standard input must be the controlling
   * terminal.
   *
   * @param shell where it starts programs
   */
  public static ProcessConsole continuing(Facts facts, Origin shell) {
    return new ProcessConsole(facts, Optional.of(shell));
  }

  @Override
  public Facts facts() {
    return facts;
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
  public int read(byte[] buffer, int length) throws IOException {
    if (once) {
      return in.read(buffer, 0, length);
    }
    try (FileChannel terminal = FileChannel.open(Path.of("/dev/tty"), StandardOpenOption.READ)) {
      return terminal.read(ByteBuffer.wrap(buffer, 0, length));
    }
  }

  @Override
  public void raw(boolean on) {
    if (on) {
      hook();
      stty.raw();
    } else {
      stty.restore();
    }
  }

  @Override
  public Optional<String> ask(String question, boolean hidden) {
    if (!facts.in() || !facts.err()) {
      return Optional.empty();
    }
    if (hidden) {
      hook();
      stty.hidden();
    }
    try {
      err.write(question.getBytes(StandardCharsets.UTF_8));
      err.flush();
      // A terminal gives a line at a time.
      byte[] line = new byte[ANSWER_BYTES];
      int count = read(line, line.length);
      if (count < 0) {
        return Optional.empty();
      }
      return Optional.of(new String(line, 0, count, StandardCharsets.UTF_8).strip());
    } catch (IOException gone) {
      return Optional.empty();
    } finally {
      if (hidden) {
        stty.restore();
        ControlClient.say(this, "\n");
      }
    }
  }

  /**
   * Ctrl-Z suspends the program and this process: a program that stops alone would not come back.
   */
  @Override
  public int spawn(List<String> command, Map<String, String> environment) {
    if (once) {
      return start(command, environment);
    }
    SignalHandler before = Signal.handle(new Signal(SUSPEND), SignalHandler.SIG_DFL);
    try {
      return start(command, environment);
    } finally {
      Signal.handle(new Signal(SUSPEND), before);
    }
  }

  private int start(List<String> command, Map<String, String> environment) {
    var builder = new ProcessBuilder(command).inheritIO();
    ThisProcess.restoreLocale(builder.environment());
    builder.environment().putAll(environment);
    shell.ifPresent(
        at -> {
          builder.directory(at.folder().toFile());
          builder.environment().putAll(at.folders());
        });
    try {
      Process process = builder.start();
      child.set(Optional.of(process));
      return process.waitFor();
    } catch (IOException missing) {
      ControlClient.say(
          this,
          "gpush: cannot run %s\n  because %s\n".formatted(command.getFirst(), reason(missing)));
      return NO_PROGRAM;
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return ExitStatus.INTERRUPTED.number();
    } finally {
      child.set(Optional.empty());
    }
  }

  /** Why a program was not started, and what to try. */
  String reason(IOException missing) {
    return shell
        .map(Origin::folder)
        .filter(at -> !Files.isDirectory(at))
        .map(at -> "the folder " + at + " is gone\n  try: cd")
        .orElseGet(() -> missing.getMessage() + "\n  try: install it, or put it on PATH");
  }

  @Override
  public Signals listen(Consumer<String> listener) {
    var before = new ArrayList<Runnable>();
    SIGNALS.forEach(name -> before.add(handle(name, listener)));
    if (once) {
      return () -> {}; // The process ends anyway; until then nothing else should hear them.
    }
    before.add(handle(SUSPEND, listener));
    return () -> before.forEach(Runnable::run);
  }

  @Override
  public void giveUp() {
    stty.restore();
    if (once) {
      Runtime.getRuntime().halt(ExitStatus.INTERRUPTED.number());
    }
  }

  /** Returns what puts the handler back that was there before. */
  private Runnable handle(String name, Consumer<String> listener) {
    var signal = new Signal(name);
    SignalHandler before = Signal.handle(signal, _ -> heard(name, listener));
    return () -> Signal.handle(signal, before);
  }

  private void heard(String name, Consumer<String> listener) {
    if (name.equals("WINCH")) {
      stty.size().ifPresent(size -> facts = facts.withSize(size[0], size[1]));
    } else if (!name.equals("INT") && !name.equals(SUSPEND)) {
      child.get().ifPresent(Process::destroy);
    }
    listener.accept(name);
  }

  /** Restores the terminal however the process ends, except by kill -9. */
  private synchronized void hook() {
    if (!hooked) {
      hooked = true;
      Runtime.getRuntime().addShutdownHook(new Thread(stty::restore, "gpush-terminal"));
    }
  }
}
