package dev.gpush.control.client;

import dev.gpush.control.client.terminal.Console;
import dev.gpush.control.wire.Facts;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A console whose streams are memory, whose person answers from a list, and whose signals a test
 * raises.
 */
public final class FakeConsole implements Console {
  /** What is read and spawned, in the order it came. */
  public final List<String> events = new CopyOnWriteArrayList<>();

  public final AtomicLong bytesRead = new AtomicLong();
  public final CountDownLatch listening = new CountDownLatch(1);
  public final CountDownLatch gaveUp = new CountDownLatch(1);

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final InputStream in;
  private volatile Facts facts = Facts.NONE;
  private volatile Consumer<String> listener = name -> {};
  private volatile Optional<String> answer = Optional.empty();
  private volatile boolean outClosed;
  private volatile int spawnStatus;
  private volatile Optional<RuntimeException> bug = Optional.empty();

  public FakeConsole(InputStream in) {
    this.in = in;
  }

  public static FakeConsole empty() {
    return new FakeConsole(new ByteArrayInputStream(new byte[0]));
  }

  public FakeConsole with(Facts newFacts) {
    facts = newFacts;
    return this;
  }

  public FakeConsole answering(String line) {
    answer = Optional.of(line);
    return this;
  }

  public FakeConsole spawning(int status) {
    spawnStatus = status;
    return this;
  }

  /** A program cannot be run, and that is a bug. */
  public FakeConsole withBug(RuntimeException thrown) {
    bug = Optional.of(thrown);
    return this;
  }

  public FakeConsole withClosedOutput() {
    outClosed = true;
    return this;
  }

  /** Raises a signal as the JDK would: on a thread of its own. */
  public void raise(String name) {
    Consumer<String> hears = listener;
    Thread.ofPlatform().daemon().start(() -> hears.accept(name));
  }

  public byte[] printedBytes() {
    return out.toByteArray();
  }

  public String printed() {
    return out.toString(StandardCharsets.UTF_8);
  }

  public String said() {
    return err.toString(StandardCharsets.UTF_8);
  }

  @Override
  public Facts facts() {
    return facts;
  }

  @Override
  public OutputStream out() {
    return outClosed ? new BrokenPipe() : out;
  }

  @Override
  public OutputStream err() {
    return err;
  }

  @Override
  public int read(byte[] buffer, int length) throws IOException {
    int count = in.read(buffer, 0, length);
    bytesRead.addAndGet(Math.max(0, count));
    return count;
  }

  @Override
  public void raw(boolean on) {
    events.add("raw " + on);
  }

  @Override
  public Optional<String> ask(String question, boolean hidden) {
    events.add("ask " + question + hidden);
    return answer;
  }

  @Override
  public int spawn(List<String> command, Map<String, String> environment) {
    events.add("spawn " + command + environment);
    if (bug.isPresent()) {
      throw bug.get();
    }
    return spawnStatus;
  }

  @Override
  public Signals listen(Consumer<String> newListener) {
    listener = newListener;
    listening.countDown();
    return () -> {};
  }

  @Override
  public void giveUp() {
    gaveUp.countDown();
  }

  private static final class BrokenPipe extends OutputStream {
    @Override
    public void write(int value) throws IOException {
      throw new IOException("Broken pipe");
    }
  }
}
