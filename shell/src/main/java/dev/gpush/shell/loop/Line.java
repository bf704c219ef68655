package dev.gpush.shell.loop;

import dev.gpush.shell.text.ShellWords;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** What a line of the loop asks for. */
sealed interface Line {
  /** Nothing. */
  record Empty() implements Line {}

  /** Leaves the loop. */
  record Leave() implements Line {}

  /** A line for the user's own shell: the text after the exclamation mark. */
  record Local(String line) implements Line {}

  /** A gpush command. */
  record Command(List<String> words) implements Line {
    public Command {
      words = List.copyOf(words);
    }
  }

  /** The lines of what was typed or pasted, in order. */
  static List<Line> all(String text, Path home) {
    if (text.strip().startsWith("!")) {
      return List.of(new Local(text.strip().substring(1).strip()));
    }
    List<Line> lines =
        ShellWords.scan(text).lines().stream().map(words -> of(words, home)).toList();
    return lines.isEmpty() ? List.of(new Empty()) : lines;
  }

  private static Line of(List<String> typed, Path home) {
    List<String> words = withoutName(typed).stream().map(word -> expanded(word, home)).toList();
    if (words.isEmpty()) {
      return new Empty();
    }
    return switch (words.getFirst().toLowerCase(Locale.ROOT)) {
      case "exit", "quit", "logout" -> words.size() == 1 ? new Leave() : new Command(words);
      default -> new Command(words);
    };
  }

  /** Replaces a leading tilde by the home folder; nothing else is expanded here. */
  private static String expanded(String word, Path home) {
    return word.equals("~") || word.startsWith("~/") ? home + word.substring(1) : word;
  }

  /** Pasted from a page or another shell: {@code $ gpush ps} means {@code ps}. */
  static List<String> withoutName(List<String> words) {
    int first = words.size() > 1 && words.getFirst().equals("$") ? 1 : 0;
    if (words.size() > first + 1 && words.get(first).equals("gpush")) {
      first++;
    }
    return words.subList(first, words.size());
  }
}
