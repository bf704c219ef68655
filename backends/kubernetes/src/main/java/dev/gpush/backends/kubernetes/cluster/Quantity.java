package dev.gpush.backends.kubernetes.cluster;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Optional;

/** Kubernetes' numbers with units: {@code 2}, {@code 1500m}, {@code 24581696Ki}, {@code 1e3}. */
public final class Quantity {
  private static final int MOST_LETTERS = 32;

  /** Of a number with an exponent: with more, arithmetic could take all memory. */
  private static final int MOST_DIGITS = 100;

  private Quantity() {}

  /** A count, such as GPUs or bytes. Rounded up; empty if the text is not a quantity. */
  public static Optional<Long> whole(String text) {
    return exact(text).map(value -> rounded(value));
  }

  /** CPUs in thousandths. */
  public static Optional<Long> millis(String text) {
    return exact(text).map(value -> rounded(value.movePointRight(3)));
  }

  /** The sum of two quantities; if one is none, the other. */
  public static String sum(String one, String other) {
    return exact(one)
        .flatMap(first -> exact(other).map(first::add))
        .map(BigDecimal::toPlainString)
        .orElse(one);
  }

  private static long rounded(BigDecimal value) {
    BigDecimal up = value.setScale(0, RoundingMode.CEILING);
    BigDecimal most = BigDecimal.valueOf(Long.MAX_VALUE);
    return up.min(most).max(most.negate()).longValueExact();
  }

  private static Optional<BigDecimal> exact(String text) {
    if (text.length() > MOST_LETTERS) {
      return Optional.empty();
    }
    try {
      return Optional.of(io.fabric8.kubernetes.api.model.Quantity.parse(text).getNumericalAmount())
          .filter(amount -> Math.abs(amount.scale()) <= MOST_DIGITS);
    } catch (IllegalArgumentException | ArithmeticException other) {
      return Optional.empty();
    }
  }
}
