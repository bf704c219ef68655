package dev.gpush.control.client;

import dev.gpush.control.client.terminal.Console;

/** Shows what the client waits for and since when, after half a second and only on a terminal. */
final class Progress implements AutoCloseable {
  private static final long FIRST_NANOS = 500_000_000L;
  private static final long EVERY_NANOS = 100_000_000L;

  private final Console console;
  private final String what;
  private final boolean shown;
  private final long start = System.nanoTime();
  private long next = start + FIRST_NANOS;
  private boolean dirty;

  Progress(Console console, String what) {
    this.console = console;
    this.what = what;
    this.shown = console.facts().err();
  }

  void tick() {
    long now = System.nanoTime();
    if (!shown || now < next) {
      return;
    }
    next = now + EVERY_NANOS;
    dirty = true;
    long tenths = (now - start) / 100_000_000;
    ControlClient.say(
        console, "\r… " + what + " " + tenths / 10 + "." + tenths % 10 + " s\u001b[K");
  }

  @Override
  public void close() {
    if (dirty) {
      ControlClient.say(console, "\r\u001b[K");
    }
  }
}
