package dev.gpush.backends.slurm.cluster;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * A GPU model's common name, matched with the names that sites use: {@code H100} is {@code h100},
 * {@code nvidia_h100_80gb_hbm3}, a feature {@code h100-sxm}, or a partition {@code gpu-h100}.
 */
public record GpuName(String text) {
  public boolean isExactly(String name) {
    return normal(text).equals(normal(name));
  }

  /**
   * Whether all words of the model are among those of the name: A100-80GB in nvidia_a100_80gb, not
   * A10 in a100.
   */
  public boolean isWithin(String name) {
    List<String> theirs = words(name);
    return isExactly(name)
        || words(text).stream()
            .allMatch(word -> theirs.stream().anyMatch(other -> begins(other, word)));
  }

  private static boolean begins(String other, String word) {
    return other.startsWith(word)
        && (other.length() == word.length() || !Character.isDigit(other.charAt(word.length())));
  }

  private static List<String> words(String name) {
    return Arrays.stream(name.toLowerCase(Locale.ROOT).split("[^a-z0-9]+"))
        .filter(word -> !word.isEmpty())
        .toList();
  }

  private static String normal(String name) {
    return String.join("", words(name));
  }
}
