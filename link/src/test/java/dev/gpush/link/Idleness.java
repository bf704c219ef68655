package dev.gpush.link;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether a process has come to a standstill: it has waited for a while without running. */
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
    same = now.equals(last) ? same + 1 : 0;
    last = now;
    return same >= LOOKS;
  }

  /** How often it went to sleep or was put aside. */
  private String switches() throws IOException {
    return Files.readString(status)
        .lines()
        .filter(line -> line.contains("ctxt_switches"))
        .toList()
        .toString();
  }
}
