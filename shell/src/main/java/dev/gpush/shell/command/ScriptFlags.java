package dev.gpush.shell.command;

import dev.gpush.core.text.Clean;
import dev.gpush.shell.command.Completion.Candidate;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The options of a Python script, as far as its text declares them: nothing of it is run. Seen are
 * names that are strings in calls of argparse, click, typer and absl; not those that are made from
 * the names of variables, and not those that an imported module declares.
 */
final class ScriptFlags {
  private static final int MOST_BYTES = 1 << 20;

  private static final Pattern CALL =
      Pattern.compile("\\b(?:add_argument|[oO]ption|(DEFINE_\\w+))\\s*\\(");

  private static final Pattern TOKEN =
      Pattern.compile(
          "\"\"\"(.*?)\"\"\"|'''(.*?)'''|\"((?:[^\"\\\\\n]++|\\\\.)*+)\"|'((?:[^'\\\\\n]++|\\\\.)*+)'"
              + "|#[^\n]*+|([A-Za-z_]\\w*+)\\s*+=(?!=)|([(\\[{])|([)\\]}])|(,)",
          Pattern.DOTALL);

  private static final int STRINGS = 4;
  private static final int KEYWORD = 5;
  private static final int OPEN = 6;
  private static final int CLOSE = 7;
  private static final int COMMA = 8;

  private ScriptFlags() {}

  /** Of the words after {@code run}: a script, or a module after -m. */
  static List<Candidate> of(Path folder, List<String> words) {
    boolean isModule = words.size() > 1 && words.getFirst().equals("-m");
    String file = isModule ? words.get(1).replace('.', '/') + ".py" : words.getFirst();
    if (!file.endsWith(".py")) {
      return List.of();
    }
    try (InputStream script = Files.newInputStream(folder.resolve(file))) {
      return in(new String(script.readNBytes(MOST_BYTES), StandardCharsets.UTF_8));
    } catch (IOException | InvalidPathException unreadable) {
      return List.of();
    }
  }

  static List<Candidate> in(String script) {
    var flags = new ArrayList<Candidate>();
    Matcher calls = CALL.matcher(script);
    while (calls.find()) {
      int line = script.lastIndexOf('\n', calls.start()) + 1;
      boolean isComment = script.substring(line, calls.start()).contains("#");
      if (!isComment) {
        add(script, calls.end(), calls.group(1) != null, flags);
      }
    }
    return List.copyOf(flags);
  }

  /**
   * Reads the arguments of one call.
   *
   * @param isAbsl its first argument is the name, without dashes, and its third one the help
   */
  private static void add(String script, int from, boolean isAbsl, List<Candidate> flags) {
    var names = new ArrayList<String>();
    var help = new StringBuilder();
    String keyword = "";
    int argument = 0;
    int depth = 1;
    Matcher tokens = TOKEN.matcher(script).region(from, script.length());
    while (depth > 0 && tokens.find()) {
      if (tokens.group(OPEN) != null) {
        depth++;
      } else if (tokens.group(CLOSE) != null) {
        depth--;
      } else if (depth == 1 && tokens.group(COMMA) != null) {
        keyword = "";
        argument++;
      } else if (depth == 1 && tokens.group(KEYWORD) != null) {
        keyword = tokens.group(KEYWORD);
      } else if (depth == 1) {
        String text = string(tokens);
        boolean isPositional = keyword.isEmpty();
        if (keyword.equals("help") || (isAbsl && isPositional && argument == 2)) {
          help.append(text);
        } else if (isPositional && (!isAbsl || argument == 0)) {
          names.addAll(isAbsl ? List.of("--" + text) : List.of(text.split("/", -1)));
        }
      }
    }
    String about = Clean.line(help.toString().replaceAll("\\s+", " "));
    for (String name : names) {
      if (name.matches("--[A-Za-z][\\w.-]*")) {
        flags.add(new Candidate(name, about));
      }
    }
  }

  /** Empty for a comment. */
  private static String string(Matcher tokens) {
    for (int group = 1; group <= STRINGS; group++) {
      if (tokens.group(group) != null) {
        return tokens.group(group);
      }
    }
    return "";
  }
}
