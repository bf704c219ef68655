package dev.gpush.templates.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.templates.yaml.YamlReader.Reading;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Odd files, and what is read from them, place by place. A block of the golden file is a comment,
 * the lines of a file behind a bar, and what was read, indented: the tree, and each flaw with an
 * exclamation mark. In a line {@code →} is a tab, {@code ⟨85⟩} the character U+0085, and {@code ⊣}
 * at its end leaves out the line's end. {@code -Dgpush.golden=write} writes what is read now.
 */
final class OddFilesTest {
  private static final Path FILE = Path.of("src/test/resources/golden/yaml/odd-files.txt");

  private static final int FEWEST_BLOCKS = 100;

  /** Enough to know a value by. */
  private static final int MOST_PATH = 40;

  @Test
  void readsEachFileAsWritten() throws IOException {
    String golden = Files.readString(FILE);
    var now = new ArrayList<String>();
    for (String block : golden.strip().split("\n\n", -1)) {
      List<String> kept =
          block.lines().filter(line -> line.startsWith("#") || line.startsWith("|")).toList();
      List<String> file = kept.stream().filter(line -> line.startsWith("|")).toList();
      now.add(lines(kept) + (file.isEmpty() ? "" : lines(read(text(file)))));
    }
    assertTrue(now.size() > FEWEST_BLOCKS, "the blocks are there");

    if ("write".equals(System.getProperty("gpush.golden"))) {
      Files.writeString(FILE, String.join("\n", now));
    }
    assertEquals(Files.readString(FILE), String.join("\n", now));
  }

  private static String lines(List<String> lines) {
    return lines.stream().map(line -> line + "\n").collect(Collectors.joining());
  }

  private static String text(List<String> file) {
    var text = new StringBuilder();
    for (String line : file) {
      String shown = line.substring(Math.min(2, line.length())).replace('→', '\t') + "\n";
      int at = 0;
      while (at < shown.length()) {
        char c = shown.charAt(at);
        int end = shown.indexOf('⟩', at);
        if (c == '⟨') {
          text.appendCodePoint(Integer.parseInt(shown.substring(at + 1, end), 16));
          at = end + 1;
        } else if (shown.startsWith("⊣\n", at)) {
          at += 2;
        } else {
          text.append(c);
          at++;
        }
      }
    }
    return text.toString();
  }

  private static List<String> read(String text) {
    Reading reading = YamlReader.read(text.getBytes(StandardCharsets.UTF_8));
    var lines = new ArrayList<String>();
    reading.content().ifPresent(content -> tree(lines, "", content));
    for (Flaw flaw : reading.flaws()) {
      String key = flaw.key().isEmpty() ? "" : flaw.key() + ": ";
      lines.add("! " + place(flaw.at()) + " " + key + flaw.what());
    }
    return (lines.isEmpty() ? List.of("nothing") : lines)
        .stream().map(line -> ("  " + line).stripTrailing()).toList();
  }

  private static void tree(List<String> lines, String full, Yaml yaml) {
    String path = full.length() <= MOST_PATH ? full : full.substring(0, MOST_PATH) + "…";
    String at = place(yaml.at()) + " ";
    switch (yaml) {
      case Yaml.Scalar(_, var word, var isPlain) ->
          lines.add(at + path + " = " + (isPlain ? shown(word) : '"' + shown(word) + '"'));
      case Yaml.Sequence(_, var items) -> {
        lines.add(at + path + " []");
        for (int i = 0; i < items.size(); i++) {
          tree(lines, path + "[" + i + "]", items.get(i));
        }
      }
      case Yaml.Mapping(_, var entries) -> {
        lines.add(at + path + " {}");
        for (Yaml.Entry entry : entries) {
          String key = shown(entry.key());
          lines.add(place(entry.at()) + " " + path + "/" + key);
          tree(lines, path + "/" + key, entry.value());
        }
      }
    }
  }

  private static String place(Position at) {
    return at.line() + ":" + at.column();
  }

  private static String shown(String text) {
    return text.codePoints()
        .mapToObj(
            c -> {
              if (c == '\t' || c == '\n') {
                return c == '\t' ? "→" : "⏎";
              }
              boolean isSeen = c >= ' ' && c < 127 || Character.isLetter(c);
              return isSeen ? Character.toString(c) : "⟨%X⟩".formatted(c);
            })
        .collect(Collectors.joining());
  }
}
