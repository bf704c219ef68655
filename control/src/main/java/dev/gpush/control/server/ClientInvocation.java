package dev.gpush.control.server;

import dev.gpush.control.wire.Facts;
import dev.gpush.control.wire.Fields;
import dev.gpush.control.wire.Kind;
import dev.gpush.control.wire.Payload;
import dev.gpush.control.wire.Request;
import dev.gpush.control.wire.Spawn;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One client's request, its streams and its signals, as {@link Connection} gives them to the
 * handler.
 */
final class ClientInvocation implements Invocation {
  private final Request request;
  private final Path folder;
  private final Outbox outbox;
  private final ClientInput in;
  private final ClientOutput out;
  private final ClientOutput err;
  private final Answers answers;
  private final Worker worker;
  private volatile Facts facts;
  private volatile boolean connected = true;
  private volatile boolean signalled;
  private volatile boolean cancelled;
  private volatile boolean watching;
  private volatile Optional<Consumer<String>> listener = Optional.empty();
  private volatile Runnable detach = () -> {};

  ClientInvocation(Request request, Outbox outbox, Worker worker) {
    this.request = request;
    this.folder = Path.of(request.folder());
    this.outbox = outbox;
    this.in = new ClientInput(outbox);
    this.out = new ClientOutput(outbox, Kind.OUTPUT);
    this.err = new ClientOutput(outbox, Kind.ERROR);
    this.answers = new Answers(outbox);
    this.worker = worker;
    this.facts = request.facts();
  }

  @Override
  public List<String> arguments() {
    return request.arguments();
  }

  @Override
  public Path folder() {
    return folder;
  }

  @Override
  public Map<String, String> environment() {
    return request.environment();
  }

  @Override
  public Facts facts() {
    return facts;
  }

  @Override
  public InputStream in() {
    return in;
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
    return facts.in() && facts.out() ? Optional.of(new ClientTerminal()) : Optional.empty();
  }

  @Override
  public void onSignal(Consumer<String> newListener) {
    listener = Optional.of(newListener);
  }

  @Override
  public void onDetach(Runnable newListener) {
    detach = newListener;
  }

  @Override
  public Optional<String> ask(String question, boolean hidden) throws InterruptedException {
    if (!facts.in() || !facts.err()) {
      return Optional.empty();
    }
    try {
      Fields answer = answers.ask(new Payload().text(question).flag(hidden).frame(Kind.ASK));
      boolean hasLine = answer.flag();
      String line = answer.text();
      return hasLine ? Optional.of(line) : Optional.empty();
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  @Override
  public int spawn(List<String> command, Map<String, String> environment)
      throws InterruptedException {
    try {
      return answers.ask(new Spawn(command, environment).frame()).number();
    } catch (IOException gone) {
      throw new UncheckedIOException(gone);
    }
  }

  @Override
  public void onlyWatches() {
    watching = true;
  }

  boolean isWatching() {
    return watching;
  }

  @Override
  public boolean isConnected() {
    return connected;
  }

  @Override
  public boolean isCancelled() {
    return cancelled;
  }

  ClientInput input() {
    return in;
  }

  Answers answers() {
    return answers;
  }

  /** Whether a signal asked the command to stop. */
  boolean wasSignalled() {
    return signalled;
  }

  void resize(int columns, int rows) {
    facts = facts.withSize(columns, rows);
  }

  /** Calls the listener, or stops the handler if there is none. */
  void signal(String name) {
    if (name.equals("TSTP")) {
      detach.run();
      return;
    }
    boolean stops = name.equals("INT") || name.equals("TERM") || name.equals("HUP");
    signalled |= stops;
    cancelled |= name.equals("INT");
    Optional<Consumer<String>> present = listener;
    if (present.isPresent()) {
      present.get().accept(name);
    } else if (stops) {
      worker.interrupt();
    }
  }

  void breakOutput(int stream) {
    (stream == 1 ? out : err).breakOff();
  }

  /** Stops the handler, because the client is gone. */
  void disconnect() {
    connected = false; // First: an IOException that follows from the rest is no bug then.
    outbox.close();
    in.breakOff();
    worker.interrupt();
  }

  private final class ClientTerminal implements Terminal {
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
      send(true);
      return () -> send(false);
    }

    private void send(boolean on) {
      try {
        outbox.put(new Payload().flag(on).frame(Kind.RAW));
      } catch (IOException gone) {
        // A client that is gone has put its terminal back itself.
      }
    }
  }
}
