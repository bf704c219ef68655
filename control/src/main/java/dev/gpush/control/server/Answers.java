package dev.gpush.control.server;

import dev.gpush.control.wire.ControlFrame;
import dev.gpush.control.wire.ControlProtocolException;
import dev.gpush.control.wire.Fields;
import java.io.IOException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.locks.ReentrantLock;

/** Questions to the client that it answers with one frame; one at a time, whichever threads ask. */
final class Answers {
  private final Outbox outbox;
  private final ReentrantLock turn = new ReentrantLock();
  private final SynchronousQueue<ControlFrame> answer = new SynchronousQueue<>();
  private volatile boolean waiting;

  Answers(Outbox outbox) {
    this.outbox = outbox;
  }

  /** Sends the question and waits. */
  Fields ask(ControlFrame question) throws InterruptedException, IOException {
    turn.lockInterruptibly();
    try {
      waiting = true;
      outbox.put(question);
      return answer.take().fields();
    } finally {
      waiting = false;
      turn.unlock();
    }
  }

  /** On the reading thread. An answer that is no longer waited for is dropped. */
  void receive(ControlFrame frame) throws ControlProtocolException, InterruptedException {
    while (waiting) {
      if (answer.offer(frame, 100, java.util.concurrent.TimeUnit.MILLISECONDS)) {
        return;
      }
    }
  }
}
