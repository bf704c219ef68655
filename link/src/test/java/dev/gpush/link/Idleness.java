package dev.gpush.link;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether a process has come to a standstill: it has waited for a while without running. On a
 * loaded machine one that wants to run may not get to for as long, so it must also sleep at each
 * look.
 */
final class Idleness {
  /** So many looks that find the same are no accident. */
  private static final int LOOKS = 6;

  private final Path status;
  private String last = "";
  private int same;

  Idleness(long pid) {
    this.status = Path.of("/proc", Long.toString(pid), "status");
  }

  void await() throws Exception {
    same = 0;
    Recorder.until("the agent waits", this::isStill);
  }

  private boolean isStill() throws IOException {
    String now = switches();
    same = now.equals(last) && now.contains("S (sleeping)") ? same + 1 : 0;
    last = now;
    return same >= LOOKS;
  }

  /** What it does, and how often it went to sleep or was put aside. */
  private String switches() throws IOException {
    return Files.readString(status)
        .lines()
        .filter(line -> line.startsWith("State:") || line.contains("ctxt_switches"))
        .toList()
        .toString();
  }
}
