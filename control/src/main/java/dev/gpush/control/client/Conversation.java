package dev.gpush.control.client;

import dev.gpush.control.client.terminal.Console;
import dev.gpush.control.client.terminal.InputPump;
import dev.gpush.control.wire.ControlFrame;
import dev.gpush.control.wire.ControlProtocolException;
import dev.gpush.control.wire.Fields;
import dev.gpush.control.wire.Kind;
import dev.gpush.control.wire.Payload;
import dev.gpush.control.wire.Refusal;
import dev.gpush.control.wire.Spawn;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.task.Clock;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/**
 * One request, from REQUEST to EXIT. The calling thread reads frames and writes the streams; output
 * of the gateway waits for the reader of this client's output, but sending never blocks: input is
 * sent only as far as it was requested, so signals are not delayed by it.
 */
final class Conversation {
  /** Ctrl-C this often within {@link #PATIENCE_NANOS} ends the client whatever the gateway does. */
  private static final int PATIENCE = 3;

  private static final long PATIENCE_NANOS = 2_000_000_000L;

  private static final int OUT = 1;
  private static final int ERR = 2;

  private final GatewayConnection connection;
  private final Console console;
  private final Clock clock;
  private final InputPump input;
  private final long[] interrupts = new long[PATIENCE];
  private boolean errBroken;
  private volatile boolean spawning;
  private volatile boolean givenUp;
  private Optional<Integer> spawned = Optional.empty();

  Conversation(GatewayConnection connection, Console console, Clock clock) {
    this.connection = connection;
    this.console = console;
    this.clock = clock;
    this.input = new InputPump(connection.writer(), console);
  }

  int carryOut(ControlFrame request) throws ClientException {
    boolean raw = false;
    try (Console.Signals _ = console.listen(this::signal)) {
      connection.writer().write(request);
      while (true) {
        Optional<ControlFrame> next = connection.reader().next();
        if (next.isEmpty()) {
          return spawned.orElseThrow(() -> lost("it ended without an answer"));
        }
        spawned = Optional.empty();
        ControlFrame from = next.get();
        switch (from.kind()) {
          case OUTPUT -> {
            if (!print(console.out(), from)) {
              send(OUT);
              return ControlClient.BROKEN_PIPE;
            }
          }
          case ERROR -> {
            if (!errBroken && !print(console.err(), from)) {
              errBroken = true;
              send(ERR);
            }
          }
          case RAW -> {
            raw = from.fields().flag();
            console.raw(raw);
          }
          case SPAWN -> spawn(Spawn.of(from));
          case WANT -> input.want(from.fields().number());
          case ASK -> {
            Fields question = from.fields();
            input.ask(question.text(), question.flag());
          }
          case EXIT -> {
            return from.fields().number();
          }
          case REFUSED -> {
            throw ClientException.refused(Refusal.of(from));
          }
          default -> throw new ControlProtocolException(from + " where a gateway never sends it");
        }
      }
    } catch (IOException cut) {
      if (givenUp) {
        return ExitStatus.INTERRUPTED.number();
      }
      return spawned.orElseThrow(() -> lost(FileReason.of(cut)));
    } finally {
      input.stop();
      if (raw) {
        console.raw(false);
      }
    }
  }

  private static boolean print(OutputStream stream, ControlFrame frame) {
    try {
      stream.write(frame.payload());
      stream.flush();
      return true;
    } catch (IOException nobodyReads) {
      return false;
    }
  }

  private void send(int broken) throws IOException {
    connection.writer().write(new Payload().number(broken).frame(Kind.BROKEN));
  }

  /**
   * A program may outlive the gateway that asked for it ({@code gpush cp} goes on with the next
   * one): then its status is that of the command.
   */
  private void spawn(Spawn spawn) throws IOException {
    int status;
    spawning = true;
    try {
      status = console.spawn(spawn.command(), spawn.environment());
    } finally {
      spawning = false;
    }
    spawned = Optional.of(status);
    connection.writer().write(new Payload().number(status).frame(Kind.SPAWNED));
  }

  /** On one of the JDK's signal threads. */
  private void signal(String name) {
    if (spawning && name.equals("INT")) {
      return; // The terminal sent it to the program too, whose business it is.
    }
    if (name.equals("INT") && isThird(clock.nanos())) {
      givenUp = true;
      connection.close();
      console.giveUp();
      return;
    }
    try {
      if (name.equals("WINCH")) {
        var facts = console.facts();
        connection
            .writer()
            .write(new Payload().number(facts.columns()).number(facts.rows()).frame(Kind.SIZE));
      } else {
        connection.writer().write(new Payload().text(name).frame(Kind.SIGNAL));
      }
    } catch (IOException overAlready) {
      // The reading thread notices and reports it.
    }
  }

  private boolean isThird(long now) {
    synchronized (interrupts) {
      System.arraycopy(interrupts, 1, interrupts, 0, PATIENCE - 1);
      interrupts[PATIENCE - 1] = now;
      return interrupts[0] != 0 && now - interrupts[0] < PATIENCE_NANOS;
    }
  }

  private static ClientException lost(String because) {
    return ClientException.environment(
        "the gateway ended during the command",
        because,
        "gpush ps    # starts it again; sessions and runs on the nodes continue");
  }
}
