package dev.gpush.link;

import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A pipe whose end comes late: from some byte on, what the gateway writes stays on the way, and so
 * does its close. The agent gets both when {@link #arrive} is called, which may be after the next
 * pipe's HELLO. To the gateway it is cut when {@link #cut} is called.
 */
final class LatePipe implements Pipe {
  private final Pipe pipe;
  private final FakePipe ours = new FakePipe();
  private final long heldFrom;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private final ByteArrayOutputStream held = new ByteArrayOutputStream();
  private long passed;
  private boolean arrives;
  private boolean ended;

  /**
   * @param heldFrom so many bytes reach the agent in time
   */
  LatePipe(Pipe pipe, Tasks tasks, long heldFrom) {
    this.pipe = pipe;
    this.heldFrom = heldFrom;
    tasks.start("late-up", this::up);
    tasks.start("late-down", this::down);
  }

  private void up() {
    var piece = new byte[8_192];
    try (InputStream from = ours.agentInput()) {
      for (int count = from.read(piece); count >= 0; count = from.read(piece)) {
        int now = takes(piece, count);
        pipe.input().write(piece, 0, now);
        pipe.input().flush();
      }
    } catch (IOException broken) {
      // The agent has ended it: then nothing of it arrives any more.
    } finally {
      ends();
    }
  }

  /** How many of these bytes go now; the rest is held. */
  private int takes(byte[] piece, int count) {
    lock.lock();
    try {
      int now = arrives ? count : Math.clamp(heldFrom - passed, 0, count);
      passed += now;
      held.write(piece, now, count - now);
      changed.signalAll();
      return now;
    } finally {
      lock.unlock();
    }
  }

  private void ends() {
    lock.lock();
    try {
      ended = true;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void down() {
    var piece = new byte[8_192];
    boolean isOpen = true;
    try {
      for (int count = pipe.output().read(piece); count >= 0; count = pipe.output().read(piece)) {
        if (isOpen) {
          isOpen = said(piece, count);
        }
      }
    } catch (IOException broken) {
      // As an end.
    } finally {
      ours.close();
    }
  }

  /** False when the gateway does not listen any more: what the agent says is read and lost. */
  private boolean said(byte[] piece, int count) {
    try {
      OutputStream to = ours.agentOutput();
      to.write(piece, 0, count);
      return true;
    } catch (IOException cut) {
      return false;
    }
  }

  /** Waits until something is held. */
  void awaitHeld() {
    lock.lock();
    try {
      while (held.size() == 0 && !ended) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }

  /** To the gateway the pipe ends; nothing of that reaches the agent yet. */
  void cut() {
    ours.close();
  }

  /** What was held reaches the agent, and then the end; how many bytes it was. */
  int arrive() {
    byte[] late;
    lock.lock();
    try {
      while (!ended) {
        changed.awaitUninterruptibly();
      }
      arrives = true;
      late = held.toByteArray();
      held.reset();
    } finally {
      lock.unlock();
    }
    try {
      pipe.input().write(late);
      // Not the whole pipe: a relay still has to bring what it was given.
      pipe.input().close();
    } catch (IOException ended) {
      // The agent has closed it meanwhile, as it may.
    }
    return late.length;
  }

  @Override
  public OutputStream input() {
    return ours.input();
  }

  @Override
  public InputStream output() {
    return ours.output();
  }

  @Override
  public InputStream errors() {
    return pipe.errors();
  }

  @Override
  public int await() throws InterruptedException {
    return pipe.await();
  }

  /** The gateway's close is as late as the rest. */
  @Override
  public void close() {
    cut();
  }
}
