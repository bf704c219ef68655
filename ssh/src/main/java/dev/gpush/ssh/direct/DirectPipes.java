package dev.gpush.ssh.direct;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamClosedException;
import dev.gpush.ssh.flow.Inlet;
import dev.gpush.ssh.flow.Outlet;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The pipes of a program on this machine that carry bulk. Its agent offers them once a MiB has
 * passed; what came before goes through the link, so short commands need no thread. Everything but
 * the bytes stays with the stream: a pipe's end is told to the agent, which then ends the stream.
 */
public final class DirectPipes {
  private final LinkStream stream;
  private final Tasks tasks;
  private final Inlet inlet;
  private final Outlet outlet;
  private final PassedBytes passed;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final List<PipeReading> readings = new ArrayList<>();
  private Optional<PipeWriting> writing = Optional.empty();
  private boolean isClosed;

  public DirectPipes(LinkStream stream, Tasks tasks, Clock clock, Inlet inlet, Outlet outlet) {
    this.stream = stream;
    this.tasks = tasks;
    this.inlet = inlet;
    this.outlet = outlet;
    this.passed = new PassedBytes(0, count -> tell(Json.object("passed", count)), clock);
  }

  private void tell(Json.Obj message) {
    try {
      stream.message(message, false);
    } catch (StreamClosedException over) {
      // Its agent need not know any more.
    }
  }

  /** A message of the agent; those that mean nothing here are ignored. */
  public void message(Json.Obj message) {
    if (message.entries().containsKey("take")) {
      read(message.object("take"));
    } else if (message.entries().containsKey("give")) {
      write(message.object("give"));
    } else if (message.flag("given")) {
      lock.lock();
      try {
        writing.ifPresent(PipeWriting::mayWrite);
      } finally {
        lock.unlock();
      }
    }
  }

  private void read(Json.Obj offer) {
    long channel = offer.number("channel").orElse(0L);
    Optional<PipeReading> reading =
        NodePipe.open(offer, StandardOpenOption.READ)
            .map(pipe -> new PipeReading(pipe, (int) channel, outlet, passed));
    boolean goesOn;
    lock.lock();
    try {
      goesOn = !isClosed && reading.isPresent();
      if (goesOn) {
        readings.add(reading.orElseThrow());
      }
    } finally {
      lock.unlock();
    }
    if (!goesOn || !tasks.startOnThread("bulk-down", () -> read(channel, reading.orElseThrow()))) {
      reading.ifPresent(PipeReading::close);
      tell(Json.object("back", channel));
    }
  }

  private void read(long channel, PipeReading reading) throws InterruptedException {
    if (reading.run()) {
      tell(Json.object("over", channel));
    }
  }

  private void write(Json.Obj offer) {
    Optional<PipeWriting> begun =
        NodePipe.open(offer, StandardOpenOption.WRITE)
            .map(pipe -> new PipeWriting(pipe, stream, passed));
    lock.lock();
    try {
      if (isClosed || writing.isPresent()) {
        return;
      }
      writing = begun;
    } finally {
      lock.unlock();
    }
    begun.ifPresent(
        pipe -> {
          if (tasks.startOnThread("bulk-up", pipe::run)) {
            inlet.redirect(pipe, () -> tell(Json.object("gives", true)));
          }
        });
  }

  /** The program accepts no more input. */
  public void endInput() {
    Optional<PipeWriting> last;
    lock.lock();
    try {
      last = writing;
    } finally {
      lock.unlock();
    }
    last.ifPresent(PipeWriting::breakOff);
  }

  /** Nobody reads its output any more. */
  public void close() {
    List<PipeReading> last;
    lock.lock();
    try {
      isClosed = true;
      last = List.copyOf(readings);
    } finally {
      lock.unlock();
    }
    last.forEach(PipeReading::close);
  }
}
