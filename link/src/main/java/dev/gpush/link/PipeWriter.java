package dev.gpush.link;

import dev.gpush.core.machine.Pipe;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameCodec;
import dev.gpush.link.frame.FrameWriter;
import dev.gpush.link.machine.LinkLimits;
import dev.gpush.link.machine.LinkMachine;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;

/**
 * Writes the machine's frames to one pipe: its own thread writes what may have to wait, and a small
 * frame is written by the thread that brings it.
 */
final class PipeWriter {
  private final LinkDriver driver;
  private final LinkMachine machine;
  private final int number;
  private final Pipe pipe;
  private final Condition work;

  // guarded by the driver's lock
  private final FrameCodec codec = new FrameCodec();
  private final ByteBuffer small = ByteBuffer.allocate(LinkLimits.SMALL_WRITE);
  private final List<Frame> left = new ArrayList<>();
  private boolean isWaiting;
  private long wakesNanos;

  PipeWriter(LinkDriver driver, int number, Pipe pipe) {
    this.driver = driver;
    this.machine = driver.machine();
    this.number = number;
    this.pipe = pipe;
    this.work = driver.work();
  }

  /** The writing thread: until nothing more may be written. */
  void write() {
    var frames = new FrameWriter(pipe.input());
    var batch = new ArrayList<Frame>();
    try {
      while (driver.awaitFrames(this, batch)) {
        for (Frame frame : batch) {
          frames.write(frame);
        }
        frames.flush();
        batch.clear();
      }
    } catch (IOException broken) {
      driver.writeFailed(number);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  // ---- what the driver calls with its lock

  /** Waits for something to write; false when nothing more may be written. */
  boolean await(List<Frame> batch) throws InterruptedException {
    assert driver.lock().isHeldByCurrentThread();
    while (true) {
      if (!left.isEmpty()) {
        batch.addAll(left);
        left.clear();
        return true;
      }
      if (!machine.take(number, batch, driver.nanos())) {
        return false;
      }
      if (!batch.isEmpty()) {
        return true;
      }
      long now = driver.nanos();
      long wait = Math.max(1, machine.untilWrite(number, now));
      wakesNanos = wait > Long.MAX_VALUE / 2 ? now + Long.MAX_VALUE / 2 : now + wait;
      isWaiting = true;
      try {
        work.awaitNanos(wait);
      } finally {
        isWaiting = false;
      }
    }
  }

  /**
   * There may be something to write, now or later. A keystroke, credit and the like are written by
   * the thread that brings them, if the pipe takes them at once: waking the writer takes longer
   * than everything else that is done for such a frame. Meanwhile the writer cannot start, because
   * it needs the lock.
   */
  void workIsDue() {
    assert driver.lock().isHeldByCurrentThread();
    if (!isWaiting) {
      return;
    }
    long now = driver.nanos();
    long until = machine.untilWrite(number, now);
    boolean isLate =
        until <= 0
            ? !left.isEmpty() || !machine.isSmall(number) || !writeSmall(now)
            : until < wakesNanos - now;
    if (isLate) {
      work.signal();
    }
  }

  /** False when the writing thread must continue or end. */
  private boolean writeSmall(long now) {
    machine.take(number, left, now);
    small.clear();
    for (Frame frame : left) {
      codec.encodeHeader(frame, small);
      small.put(frame.payload());
    }
    try {
      if (pipe.offer(small.flip())) {
        left.clear();
        return true;
      }
    } catch (IOException broken) {
      left.clear();
      driver.writeFailed(number);
    }
    return false;
  }
}
