package dev.gpush.control.server;

import java.util.concurrent.CountDownLatch;

/**
 * The handler's thread, to be interrupted from outside only while the handler really runs on it.
 */
final class Worker {
  private final CountDownLatch done = new CountDownLatch(1);

  // guarded by this
  private Thread thread = Thread.currentThread();
  private boolean running;
  private boolean stopped;

  /** On the handler's thread, before the handler. */
  synchronized void begin() {
    thread = Thread.currentThread();
    running = true;
    if (stopped) {
      thread.interrupt();
    }
  }

  /** On the handler's thread, after the handler: clears a remaining interrupt. */
  void end() {
    synchronized (this) {
      running = false;
      Thread.interrupted();
    }
    done.countDown();
  }

  synchronized void interrupt() {
    stopped = true;
    if (running) {
      thread.interrupt();
    }
  }

  /** Waits for the handler to return. */
  void await() throws InterruptedException {
    done.await();
  }
}
