package dev.gpush.sync;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.eclipse.jgit.ignore.FastIgnoreRule;

/** The rules of one ignore file; the last that matches decides. */
final class IgnoreFile {
  /** A larger one is not written by people; git reads up to 100 MB. */
  private static final long MAX_BYTES = 16 << 20;

  private static final char BYTE_ORDER_MARK = '\uFEFF';

  private record Rule(FastIgnoreRule matcher, IgnoreRule rule) {}

  private final List<Rule> rules;

  private IgnoreFile(List<Rule> rules) {
    this.rules = List.copyOf(rules);
  }

  /**
   * Nothing when there is none. As git does, a link is not followed inside a work tree.
   *
   * @param source how a person would name the file
   */
  static Optional<IgnoreFile> read(Path file, String source, LinkOption... links)
      throws IOException {
    if (!Files.isRegularFile(file, links) || Files.size(file) > MAX_BYTES) {
      return Optional.empty();
    }
    IgnoreFile parsed = parse(new String(Files.readAllBytes(file), StandardCharsets.UTF_8), source);
    return parsed.rules.isEmpty() ? Optional.empty() : Optional.of(parsed);
  }

  static IgnoreFile parse(String text, String source) {
    String body = !text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK ? text.substring(1) : text;
    var rules = new ArrayList<Rule>();
    int number = 0;
    for (String raw : body.split("\n", -1)) {
      number++;
      String line = raw.endsWith("\r") ? raw.substring(0, raw.length() - 1) : raw;
      if (line.isEmpty() || line.startsWith("#") || line.equals("/") || line.equals("!")) {
        continue;
      }
      var matcher = new FastIgnoreRule(line);
      if (!matcher.isEmpty()) {
        var rule = new IgnoreRule(source, number, line.strip(), matcher.getNegation());
        rules.add(new Rule(matcher, rule));
      }
    }
    return new IgnoreFile(rules);
  }

  /**
   * @param path below the folder that the file is for
   */
  Optional<IgnoreRule> match(String path, boolean isFolder) {
    for (int i = rules.size() - 1; i >= 0; i--) {
      if (rules.get(i).matcher().isMatch(path, isFolder, true)) {
        return Optional.of(rules.get(i).rule());
      }
    }
    return Optional.empty();
  }
}
