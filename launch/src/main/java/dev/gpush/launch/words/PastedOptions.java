package dev.gpush.launch.words;

import dev.gpush.core.failure.UsageFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The options of a pasted launcher, parsed: which the session replaces, which stay, and where the
 * program starts.
 *
 * @param program from the script (or {@code -m module})
 * @param kept options that stay, as they were written
 * @param replaced options that the session replaces, as they were written
 */
public record PastedOptions(List<String> program, List<String> kept, List<String> replaced) {
  public PastedOptions {
    program = List.copyOf(program);
    kept = List.copyOf(kept);
    replaced = List.copyOf(replaced);
  }

  boolean has(String option) {
    return kept.stream().anyMatch(word -> name(word).equals(option));
  }

  /**
   * Reads the words after the launcher; {@code -} and {@code _} are the same in their names.
   *
   * @param launcher as launchers.txt has it
   */
  static PastedOptions read(String launcher, List<String> words) {
    var known = new KnownOptions(launcher);
    var kept = new ArrayList<String>();
    var replaced = new ArrayList<String>();
    boolean module = false;
    int at = 0;
    while (at < words.size() && words.get(at).startsWith("-")) {
      String word = words.get(at);
      if (word.equals("--")) {
        at++;
        break;
      }
      int length = hasValue(known, words, at) ? 2 : 1;
      List<String> option = words.subList(at, at + length);
      at += length;
      String name = name(word);
      Optional<String> refusal = known.refusal(name);
      if (refusal.isPresent()) {
        throw UsageFailure.ofRun(launcher + " " + word + " is not possible here: " + refusal.get());
      }
      if (name.equals("m") || name.equals("module")) {
        module = true;
      } else if (known.has("ours", name)) {
        replaced.addAll(option);
      } else {
        kept.addAll(option);
      }
    }
    if (at >= words.size()) {
      throw UsageFailure.ofRun(launcher + " without a script");
    }
    var program = new ArrayList<String>();
    if (module) {
      program.add("-m");
    }
    program.addAll(words.subList(at, words.size()));
    return new PastedOptions(program, kept, replaced);
  }

  /** An option that is not a known flag has a value, unless what follows cannot be one. */
  private static boolean hasValue(KnownOptions known, List<String> words, int at) {
    String word = words.get(at);
    if (word.contains("=") || known.has("flags", name(word)) || at + 1 >= words.size()) {
      return false;
    }
    String next = words.get(at + 1);
    return !next.startsWith("-") && !next.endsWith(".py");
  }

  /** {@code --nproc_per_node=8} is {@code nproc-per-node}. */
  public static String name(String word) {
    String bare = word.replaceFirst("^--?", "");
    int equals = bare.indexOf('=');
    return (equals < 0 ? bare : bare.substring(0, equals)).replace('_', '-');
  }
}
