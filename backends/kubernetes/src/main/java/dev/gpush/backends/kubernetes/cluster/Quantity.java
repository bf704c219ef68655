package dev.gpush.backends.kubernetes.cluster;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Kubernetes' numbers with units: {@code 2}, {@code 1500m}, {@code 24581696Ki}, {@code 1e3}. */
public final class Quantity {
  private static final Pattern RULE =
      Pattern.compile(
          "([+-]?[0-9]{0,19}(?:\\.[0-9]{0,19})?)(?:([eE][+-]?[0-9]{1,2})|([numkMGTPE]|[KMGTPE]i)?)");

  private static final Map<String, BigDecimal> UNITS =
      Map.ofEntries(
          Map.entry("n", BigDecimal.ONE.movePointLeft(9)),
          Map.entry("u", BigDecimal.ONE.movePointLeft(6)),
          Map.entry("m", BigDecimal.ONE.movePointLeft(3)),
          Map.entry("k", BigDecimal.ONE.movePointRight(3)),
          Map.entry("M", BigDecimal.ONE.movePointRight(6)),
          Map.entry("G", BigDecimal.ONE.movePointRight(9)),
          Map.entry("T", BigDecimal.ONE.movePointRight(12)),
          Map.entry("P", BigDecimal.ONE.movePointRight(15)),
          Map.entry("E", BigDecimal.ONE.movePointRight(18)),
          Map.entry("Ki", BigDecimal.valueOf(1L << 10)),
          Map.entry("Mi", BigDecimal.valueOf(1L << 20)),
          Map.entry("Gi", BigDecimal.valueOf(1L << 30)),
          Map.entry("Ti", BigDecimal.valueOf(1L << 40)),
          Map.entry("Pi", BigDecimal.valueOf(1L << 50)),
          Map.entry("Ei", BigDecimal.valueOf(1L << 60)));

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
    Matcher match = RULE.matcher(text);
    if (!match.matches() || !match.group(1).matches(".*[0-9].*")) {
      return Optional.empty();
    }
    var number = new BigDecimal(match.group(1) + Optional.ofNullable(match.group(2)).orElse(""));
    return Optional.of(
        Optional.ofNullable(match.group(3))
            .map(unit -> number.multiply(UNITS.getOrDefault(unit, BigDecimal.ONE)))
            .orElse(number));
  }
}
