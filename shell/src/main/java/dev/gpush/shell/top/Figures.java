package dev.gpush.shell.top;

import dev.gpush.core.sample.NodeSample.Amount;
import java.util.Locale;
import java.util.Optional;

/** Numbers that fit into a column; what is not known is a dash. */
final class Figures {
  static final String NONE = "-";

  private static final String UNITS = "kMGTP";

  private Figures() {}

  static String percent(Optional<? extends Number> value) {
    return value.map(number -> Math.round(number.doubleValue()) + "%").orElse(NONE);
  }

  static String whole(Optional<? extends Number> value, String unit) {
    return value.map(number -> Math.round(number.doubleValue()) + unit).orElse(NONE);
  }

  /** Memory, in units of 1024: {@code 71.2/80.0G}. */
  static String amount(Amount amount) {
    if (amount.used().isEmpty() || amount.total().isEmpty()) {
      return NONE;
    }
    String total = scaled(amount.total().get(), 1024);
    String used = scaled(amount.used().get(), 1024);
    boolean isSame = used.charAt(used.length() - 1) == total.charAt(total.length() - 1);
    return (isSame ? used.substring(0, used.length() - 1) : used) + "/" + total;
  }

  static String memory(Optional<Long> bytes) {
    return bytes.map(count -> scaled(count, 1024)).orElse(NONE);
  }

  /** Bytes a second, in units of 1000. */
  static String rate(Optional<Long> bytes) {
    return bytes.map(count -> scaled(count, 1000)).orElse(NONE);
  }

  static String watts(Optional<Double> now, Optional<Double> limit) {
    return now.isEmpty() ? NONE : Math.round(now.get()) + limit.map(Figures::of).orElse("") + "W";
  }

  private static String of(double limit) {
    return "/" + Math.round(limit);
  }

  private static String scaled(long bytes, int step) {
    double value = bytes;
    int unit = -1;
    while (value >= 999.5 && unit < UNITS.length() - 1) {
      value /= step;
      unit++;
    }
    if (unit < 0) {
      return bytes + "B";
    }
    return String.format(
        Locale.ROOT, value < 99.95 ? "%.1f%s" : "%.0f%s", value, UNITS.charAt(unit));
  }
}
