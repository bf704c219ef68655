package dev.gpush.shell.loop;

import dev.gpush.core.failure.Message;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.ShellWords;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** What a line of the loop asks for. */
sealed interface Line {
  /** What a shell has between commands. */
  Set<String> BETWEEN = Set.of(";", "&", "&&", "||");

  /** The commands of the shell itself. */
  Set<String> OWN = Set.of("exit", "quit", "logout", "clear", "history", "pwd", "cd");

  /** Nothing. */
  record Empty() implements Line {}

  /** Leaves the loop. */
  record Leave() implements Line {}

  /** A line for the user's own shell: the text after the exclamation mark. */
  record Local(String line) implements Line {}

  /** An empty screen. */
  record Clear() implements Line {}

  /** The lines that were typed in this project. */
  record Past() implements Line {}

  /**
   * Another folder.
   *
   * @param to the words after cd
   */
  record Change(List<String> to) implements Line {
    public Change {
      to = List.copyOf(to);
    }
  }

  /** The name of the folder. */
  record Where() implements Line {}

  /** A gpush command. */
  record Command(List<String> words) implements Line {
    public Command {
      words = List.copyOf(words);
    }
  }

  /** A line that means something else in the user's own shell. */
  record Refused(Message message) implements Line {}

  /** The lines of what was typed or pasted, in order. */
  static List<Line> all(String text, Path home) {
    List<Line> lines = ShellWords.scan(text).lines().stream().map(line -> of(line, home)).toList();
    return lines.isEmpty() ? List.of(new Empty()) : lines;
  }

  private static Line of(ShellWords.Typed line, Path home) {
    String text = line.text().strip();
    if (text.startsWith("!")) {
      return new Local(text.substring(1).strip());
    }
    if (text.startsWith("@")) {
      return onNodes(text.substring(1));
    }
    return line.operators().isEmpty()
        ? of(line.words(), home)
        : new Refused(refusal(line.operators(), text.replaceFirst("^([$] +)?(gpush +)?", "")));
  }

  /** Else a program would get it as an argument, and what comes after it, too. */
  private static Message refusal(String operators, String text) {
    return Message.of(
        "this line was not run",
        "there is no " + operators + " at this prompt; one for a program needs quotes",
        BETWEEN.contains(operators)
            ? "each command on a line of its own"
            : "!gpush " + Clean.line(text));
  }

  /** Words as the gateway completes them: {@code @1} means {@code exec --on 1}. */
  static List<String> completed(List<String> typed) {
    List<String> words = withoutName(typed);
    if (!words.getFirst().startsWith("@")) {
      return words;
    }
    String nodes = words.getFirst().substring(1);
    var meant = new ArrayList<>(words.size() == 1 ? List.of("exec", "--on", nodes) : places(nodes));
    meant.addAll(words.subList(1, words.size()));
    return meant;
  }

  /** A line for the shell of the nodes that come first in it; none: a shell on that node. */
  private static Line onNodes(String text) {
    String nodes = text.lines().findFirst().orElse("").split(" ", 2)[0];
    String line = text.substring(nodes.length()).strip();
    if (line.isEmpty()) {
      return new Command(List.of("ssh", "--on", nodes));
    }
    var words = new ArrayList<>(places(nodes));
    words.addAll(List.of("sh", "-c", line));
    return new Command(words);
  }

  private static List<String> places(String nodes) {
    return nodes.equals("all") ? List.of("exec", "--all") : List.of("exec", "--on", nodes);
  }

  private static Line of(List<String> typed, Path home) {
    List<String> words = withoutName(typed).stream().map(word -> expanded(word, home)).toList();
    if (words.isEmpty()) {
      return new Empty();
    }
    return switch (words.getFirst().toLowerCase(Locale.ROOT)) {
      case "exit", "quit", "logout" -> alone(words, new Leave());
      case "clear" -> alone(words, new Clear());
      case "history" -> alone(words, new Past());
      case "pwd" -> alone(words, new Where());
      case "cd" -> new Change(words.subList(1, words.size()));
      default -> new Command(words);
    };
  }

  private static Line alone(List<String> words, Line meant) {
    return words.size() == 1 ? meant : new Command(words);
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
