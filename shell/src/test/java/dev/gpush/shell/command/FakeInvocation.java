package dev.gpush.shell.command;

import dev.gpush.control.server.Invocation;
import dev.gpush.control.wire.Facts;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** A client that is the test. What it got is kept in the order in which it came. */
public final class FakeInvocation implements Invocation {
  private final List<String> arguments;
  private final Path folder;
  private final Map<String, String> environment;
  private final Deque<String> answers = new ArrayDeque<>();
  private final StringBuilder both = new StringBuilder();
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final Thread thread = Thread.currentThread();
  private Optional<Consumer<String>> listener = Optional.empty();
  private Runnable detach = () -> {};
  private Facts facts = Facts.NONE;
  private Optional<Integer> brokenAfter = Optional.empty();
  private byte[] typed = {};
  private volatile boolean cancelled;
  final List<List<String>> spawned = new ArrayList<>();
  int spawnStatus;
  final List<String> raw = new ArrayList<>();

  FakeInvocation(List<String> arguments, Path folder, Map<String, String> environment) {
    this.arguments = arguments;
    this.folder = folder;
    this.environment = environment;
  }

  FakeInvocation withTerminal(int columns) {
    facts = Facts.of(Facts.Terminals.all(), columns, 24, Map.of("TERM", "xterm", "NO_COLOR", "1"));
    return this;
  }

  FakeInvocation answering(String... lines) {
    answers.addAll(List.of(lines));
    return this;
  }

  /** Keys that are there at once. */
  FakeInvocation typing(String keys) {
    typed = keys.getBytes(StandardCharsets.UTF_8);
    return this;
  }

  /** The reader goes away after so many bytes. */
  public FakeInvocation breakingAfter(int bytes) {
    brokenAfter = Optional.of(bytes);
    return this;
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  public void signal(String name) {
    cancelled |= name.equals("INT");
    Optional<Consumer<String>> present;
    synchronized (this) {
      present = listener;
    }
    present.ifPresentOrElse(to -> to.accept(name), thread::interrupt);
  }

  /** Ctrl-Z. */
  public void detach() {
    Runnable present;
    synchronized (this) {
      present = detach;
    }
    present.run();
  }

  /** Waits until this was written to standard error. */
  public synchronized void awaitError(String text) throws InterruptedException {
    while (!errText().contains(text)) {
      wait();
    }
  }

  /** Standard output as it is, standard error behind "2> ". */
  public synchronized String both() {
    return both.toString();
  }

  public byte[] outBytes() {
    return out.toByteArray();
  }

  String outText() {
    return out.toString(StandardCharsets.UTF_8);
  }

  public String errText() {
    return err.toString(StandardCharsets.UTF_8);
  }

  @Override
  public List<String> arguments() {
    return arguments;
  }

  @Override
  public Path folder() {
    return folder;
  }

  @Override
  public Map<String, String> environment() {
    return environment;
  }

  @Override
  public Facts facts() {
    return facts;
  }

  @Override
  public Optional<String> ask(String question, boolean hidden) {
    if (answers.isEmpty()) {
      return Optional.empty();
    }
    synchronized (this) {
      both.append("?> ").append(question).append(answers.peekFirst()).append('\n');
    }
    return Optional.of(answers.removeFirst());
  }

  /** The exit status of programs that it starts. */
  public void spawnStatus(int status) {
    spawnStatus = status;
  }

  /** The programs that it was to start, each with its words. */
  public List<List<String>> spawned() {
    return List.copyOf(spawned);
  }

  @Override
  public int spawn(List<String> command, Map<String, String> more) {
    spawned.add(command);
    return spawnStatus;
  }

  @Override
  public void onlyWatches() {}

  @Override
  public boolean isConnected() {
    return true;
  }

  @Override
  public InputStream in() {
    return new ByteArrayInputStream(typed.clone());
  }

  @Override
  public OutputStream out() {
    return new Recorder(out, "");
  }

  @Override
  public OutputStream err() {
    return new Recorder(err, "2> ");
  }

  @Override
  public Optional<Terminal> terminal() {
    return facts.in() && facts.out() ? Optional.of(new FakeTerminal()) : Optional.empty();
  }

  @Override
  public synchronized void onDetach(Runnable to) {
    detach = to;
  }

  @Override
  public synchronized void onSignal(Consumer<String> to) {
    listener = Optional.of(to);
  }

  private final class Recorder extends OutputStream {
    private final ByteArrayOutputStream target;
    private final String prefix;

    Recorder(ByteArrayOutputStream target, String prefix) {
      this.target = target;
      this.prefix = prefix;
    }

    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      synchronized (FakeInvocation.this) {
        if (brokenAfter.isPresent() && target.size() + length > brokenAfter.get()) {
          throw new IOException("broken pipe");
        }
        target.write(bytes, offset, length);
        FakeInvocation.this.notifyAll();
        if (both.length() < 1_000_000) {
          for (String line :
              new String(bytes, offset, length, StandardCharsets.UTF_8).split("(?<=\n)")) {
            both.append(prefix).append(line);
          }
        }
      }
    }
  }

  private final class FakeTerminal implements Terminal {
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
      raw.add("raw");
      return () -> raw.add("restored");
    }
  }
}
