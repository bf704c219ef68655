package dev.gpush.ssh.direct;

import dev.gpush.core.json.Json;
import dev.gpush.core.time.Clock;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamClosedException;
import dev.gpush.ssh.flow.NodeInput;
import dev.gpush.ssh.flow.Outlet;
import dev.gpush.ssh.socket.ChannelSockets;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A program whose bytes pass a {@link ProgramSocket}, while its stream carries everything else. The
 * end of the stream counts once all that the program has written was read.
 */
public final class CarriedProgram implements NodeInput, DirectSocket.Listener {
  private final DirectSocket socket;
  private final LinkStream stream;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private boolean hasRead;
  private Optional<Runnable> end = Optional.empty();

  public CarriedProgram(ProgramSocket carrier, LinkStream stream, Outlet outlet, Clock clock) {
    this.stream = stream;
    var passed = new PassedBytes(0, count -> report(stream, count), clock);
    this.socket = new DirectSocket(carrier.socket(), outlet, passed);
  }

  public void start(ChannelSockets sockets) {
    socket.start(sockets, this);
  }

  private static void report(LinkStream stream, int count) {
    try {
      stream.message(Json.object("passed", count), false);
    } catch (StreamClosedException over) {
      // The program has ended.
    }
  }

  /** Runs this after everything was read. */
  public void whenRead(Runnable action) {
    lock.lock();
    try {
      if (!hasRead) {
        end = Optional.of(action);
        return;
      }
    } finally {
      lock.unlock();
    }
    action.run();
  }

  @Override
  public void hasRead() {
    Optional<Runnable> action;
    lock.lock();
    try {
      hasRead = true;
      action = end;
      end = Optional.empty();
    } finally {
      lock.unlock();
    }
    action.ifPresent(Runnable::run);
  }

  /** The agent no longer says how it ends: what it may still write has no reader. */
  public void abandon() {
    socket.close();
  }

  @Override
  public int trySend(ByteBuffer bytes) throws IOException {
    return socket.trySend(bytes);
  }

  @Override
  public void onWritable(Runnable action) {
    socket.onWritable(action);
  }

  @Override
  public void end() {
    socket.end();
  }

  @Override
  public void close() {
    socket.close();
    stream.close(Json.object());
  }

  @Override
  public boolean hasCopied() {
    return true;
  }
}
