package dev.gpush.sync.git;

import dev.gpush.core.session.SendReason.Rule;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.eclipse.jgit.ignore.FastIgnoreRule;

/**
 * The rules of one ignore file; the last that matches decides.
 *
 * <p>git compares bytes: "?" is one of them, and "Ü" is two. JGit compares chars. So patterns and
 * paths are given to it with one char for each byte of their UTF-8.
 */
final class IgnoreFile {
  /** A larger one is not written by people; git reads up to 100 MB. */
  private static final long MAX_BYTES = 16 << 20;

  /** In bytes, as all text here. */
  private static final String BYTE_ORDER_MARK = "\u00EF\u00BB\u00BF";

  private record Line(FastIgnoreRule matcher, Rule rule) {}

  private final List<Line> rules;
  private final boolean ignoresCase;

  private IgnoreFile(List<Line> rules, boolean ignoresCase) {
    this.rules = List.copyOf(rules);
    this.ignoresCase = ignoresCase;
  }

  /**
   * Nothing when there is none. As git does, a link is not followed inside a work tree.
   *
   * @param source the file's name for messages
   * @param ignoresCase whether A and a are the same, as with {@code core.ignoreCase}
   */
  static Optional<IgnoreFile> read(
      Path file, String source, boolean ignoresCase, LinkOption... links) throws IOException {
    if (!Files.isRegularFile(file, links) || Files.size(file) > MAX_BYTES) {
      return Optional.empty();
    }
    IgnoreFile parsed =
        parse(
            new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1), source, ignoresCase);
    return parsed.rules.isEmpty() ? Optional.empty() : Optional.of(parsed);
  }

  private static IgnoreFile parse(String text, String source, boolean ignoresCase) {
    String body =
        text.startsWith(BYTE_ORDER_MARK) ? text.substring(BYTE_ORDER_MARK.length()) : text;
    var rules = new ArrayList<Line>();
    int number = 0;
    for (String raw : body.split("\n", -1)) {
      number++;
      String line = raw.endsWith("\r") ? raw.substring(0, raw.length() - 1) : raw;
      if (line.isEmpty() || line.startsWith("#") || line.equals("/") || line.equals("!")) {
        continue;
      }
      var matcher = new FastIgnoreRule(ignoresCase ? folded(line) : line);
      if (!matcher.isEmpty()) {
        var rule = new Rule(fromBytes(line.stripTrailing()), source, number);
        rules.add(new Line(matcher, rule));
      }
    }
    return new IgnoreFile(rules, ignoresCase);
  }

  /**
   * @param path below the folder that the file is for
   */
  Optional<Rule> match(String path, boolean isFolder) {
    String bytes = ignoresCase ? folded(toBytes(path)) : toBytes(path);
    for (int i = rules.size() - 1; i >= 0; i--) {
      if (rules.get(i).matcher().isMatch(bytes, isFolder, true)) {
        return Optional.of(rules.get(i).rule());
      }
    }
    return Optional.empty();
  }

  /** As git folds: the letters of ASCII only. */
  private static String folded(String bytes) {
    var folded = new StringBuilder(bytes);
    for (int i = 0; i < bytes.length(); i++) {
      char at = bytes.charAt(i);
      folded.setCharAt(i, at >= 'A' && at <= 'Z' ? (char) (at - 'A' + 'a') : at);
    }
    return folded.toString();
  }

  private static String toBytes(String text) {
    return text.chars().allMatch(c -> c < 128)
        ? text
        : new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
  }

  private static String fromBytes(String bytes) {
    return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
  }
}
