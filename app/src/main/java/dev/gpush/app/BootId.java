package dev.gpush.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What changes when this machine restarts; empty where the system does not tell. */
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
