package dev.gpush.sync.scan;

import java.util.Locale;

/** Sizes for messages: 14 MB, 1.2 GB. */
public final class Sizes {
  private static final long KILO = 1_000;
  private static final long MEGA = 1_000_000;
  private static final long GIGA = 1_000_000_000;

  private Sizes() {}

  public static String text(long bytes) {
    if (bytes >= GIGA) {
      return bytes % GIGA == 0
          ? bytes / GIGA + " GB"
          : String.format(Locale.ROOT, "%.1f GB", bytes / (double) GIGA);
    }
    return bytes >= MEGA
        ? bytes / MEGA + " MB"
        : bytes >= KILO ? bytes / KILO + " kB" : bytes + " bytes";
  }
}
