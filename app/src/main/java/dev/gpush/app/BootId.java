package dev.gpush.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** An id that changes when this machine restarts; empty if the system has none. */
final class BootId {
  private static final Path LINUX = Path.of("/proc/sys/kernel/random/boot_id");

  private BootId() {}

  static String current() {
    try {
      return Files.readString(LINUX).strip();
    } catch (IOException elsewhere) {
      return "";
    }
  }
}
