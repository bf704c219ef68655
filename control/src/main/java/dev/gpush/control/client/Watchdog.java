package dev.gpush.control.client;

import java.io.IOException;
import java.nio.channels.Channel;

/** Closes a channel unless it is cancelled in time, because blocking channels have no timeouts. */
final class Watchdog {
  private final Channel channel;
  private final long millis;

  // guarded by this
  private boolean over;
  private boolean bitten;

  Watchdog(Channel channel, long millis) {
    this.channel = channel;
    this.millis = millis;
    var thread = new Thread(null, this::watch, "gpush-watchdog", 0, false);
    thread.setDaemon(true);
    thread.start();
  }

  synchronized void done() {
    over = true;
    notifyAll();
  }

  synchronized boolean hasBitten() {
    return bitten;
  }

  private void watch() {
    try {
      if (isInTime()) {
        return;
      }
      channel.close();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (IOException closedAnyway) {
      // Its reader notices.
    }
  }

  private synchronized boolean isInTime() throws InterruptedException {
    long end = System.nanoTime() + millis * 1_000_000;
    while (!over) {
      long left = (end - System.nanoTime()) / 1_000_000;
      if (left <= 0) {
        bitten = true;
        return false;
      }
      wait(left);
    }
    return true;
  }
}
