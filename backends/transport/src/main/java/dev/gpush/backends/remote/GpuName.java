package dev.gpush.backends.remote;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A GPU model as people call it ({@code H100}), and the names that drivers, clusters and clouds
 * have for it.
 */
public record GpuName(String text) {
  private static final Pattern MODEL = Pattern.compile("[A-Z]{1,3}[0-9]{1,4}[A-Z]{0,2}");
  private static final Pattern SIZE = Pattern.compile("[0-9]+(GB|G)|HBM.*|[A-Z]+[0-9]GB");

  /**
   * As a driver reports it: "NVIDIA H100 80GB HBM3" is H100, "NVIDIA GeForce RTX 3090" RTX-3090.
   */
  public static String ofDriver(String name) {
    String plain =
        name.replaceFirst("(?i)^nvidia\\s+", "")
            .replaceFirst("(?i)^(tesla|geforce|quadro)\\s+", "");
    String first = plain.replaceFirst("[\\s-].*", "");
    String model = first.equalsIgnoreCase("rtx") ? plain.replaceAll("\\s+", "-") : first;
    return model.replaceAll("[^A-Za-z0-9_.-]", "").toUpperCase(Locale.ROOT);
  }

  /** As a label has it: the word of {@code nvidia-tesla-t4} that is the model, T4. */
  public static String ofLabel(String product) {
    return words(product).stream()
        .filter(word -> MODEL.matcher(word).matches() && !SIZE.matcher(word).matches())
        .findFirst()
        .orElse(product);
  }

  public boolean isExactly(String name) {
    return String.join("", words(text)).equals(String.join("", words(name)));
  }

  /**
   * Whether a label names this model and no other: {@code NVIDIA-H100-80GB-HBM3} names H100 and
   * H100-80GB, and not H10.
   */
  public boolean isNamedBy(String label) {
    List<String> there = words(label);
    List<String> wanted = words(text);
    for (int from = 0; from + wanted.size() <= there.size(); from++) {
      if (there.subList(from, from + wanted.size()).equals(wanted)) {
        return !wanted.isEmpty();
      }
    }
    return false;
  }

  /**
   * Whether a name that an administrator has chosen begins words with all words of the model:
   * A100-80GB in nvidia_a100_80gb, H100 in gpu-h100sxm, not A10 in a100.
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
    return Arrays.stream(name.toUpperCase(Locale.ROOT).split("[^A-Z0-9]+", -1))
        .filter(word -> !word.isEmpty())
        .toList();
  }
}
