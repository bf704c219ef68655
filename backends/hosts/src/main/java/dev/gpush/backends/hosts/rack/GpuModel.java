package dev.gpush.backends.hosts.rack;

import java.util.Locale;

/** GPU models as people call them. */
public final class GpuModel {
  private GpuModel() {}

  /** "NVIDIA H100 80GB HBM3" is called H100. */
  public static String of(String driverName) {
    String plain =
        driverName
            .replaceFirst("(?i)^nvidia\\s+", "")
            .replaceFirst("(?i)^(tesla|geforce|quadro)\\s+", "");
    String first = plain.replaceFirst("[\\s-].*", "");
    String model = first.equalsIgnoreCase("rtx") ? plain.replaceAll("\\s+", "-") : first;
    return model.replaceAll("[^A-Za-z0-9_.-]", "").toUpperCase(Locale.ROOT);
  }
}
