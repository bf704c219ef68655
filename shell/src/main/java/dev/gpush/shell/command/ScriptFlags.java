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

  /** A call that is longer has no end: the script is being written. */
  private static final int MOST_OF_CALL = 16 * 1024;

  /** What begins is always taken, with its end or without, so nothing is read twice. */
  private static final Pattern TOKEN =
      Pattern.compile(
          "\"\"\"(.*?)(?:\"\"\"|\\z)|'''(.*?)(?:'''|\\z)"
              + "|\"((?:[^\"\\\\\n]++|\\\\.)*+)\"|'((?:[^'\\\\\n]++|\\\\.)*+)'"
              + "|\"(?:[^\"\\\\\n]++|\\\\.)*+|'(?:[^'\\\\\n]++|\\\\.)*+|#[^\n]*+"
              + "|((?:add_argument|[oO]ption|(DEFINE_\\w++))\\s*+\\()"
              + "|([A-Za-z_]\\w*+)(\\s*+=(?!=))?|([(\\[{])|([)\\]}])|(,)",
          Pattern.DOTALL);

  private static final int STRINGS = 4;
  private static final int CALL = 5;
  private static final int ABSL = 6;
  private static final int NAME = 7;
  private static final int EQUALS = 8;
  private static final int OPEN = 9;
  private static final int CLOSE = 10;
  private static final int COMMA = 11;

  private final List<Candidate> found = new ArrayList<>();

  // of the call that is read:
  private final List<String> names = new ArrayList<>();
  private final StringBuilder help = new StringBuilder();
  private String keyword = "";
  private boolean isAbsl;
  private int argument;
  private int from;

  /** Of brackets; 0 outside a call. */
  private int depth;

  private ScriptFlags() {}

  /** Of the words after {@code run}: a script, or a module after -m. */
  static List<Candidate> of(Path folder, List<String> words) {
    boolean isModule = words.size() > 1 && words.getFirst().equals("-m");
    String file = isModule ? words.get(1).replace('.', '/') + ".py" : words.getFirst();
    if (!file.endsWith(".py")) {
      return List.of();
    }
    try {
      Path script = folder.resolve(file);
      return Files.isRegularFile(script) ? in(script) : List.of();
    } catch (IOException | InvalidPathException unreadable) {
      return List.of();
    }
  }

  private static List<Candidate> in(Path file) throws IOException {
    try (InputStream script = Files.newInputStream(file)) {
      return in(new String(script.readNBytes(MOST_BYTES), StandardCharsets.UTF_8));
    }
  }

  static List<Candidate> in(String script) {
    var flags = new ScriptFlags();
    Matcher tokens = TOKEN.matcher(script);
    while (tokens.find()) {
      flags.take(tokens);
    }
    flags.end();
    return List.copyOf(flags.found);
  }

  private void take(Matcher token) {
    if (token.group(CALL) != null) {
      end(); // Its end is missing, or it has another call in it.
      from = token.start();
      isAbsl = token.group(ABSL) != null;
      depth = 1;
    } else if (depth == 0) {
      return;
    } else if (token.start() - from > MOST_OF_CALL) {
      end();
    } else if (token.group(OPEN) != null) {
      depth++;
    } else if (token.group(CLOSE) != null) {
      depth--;
      if (depth == 0) {
        end();
      }
    } else if (depth == 1) {
      takeArgument(token);
    }
  }

  /** Of absl the first argument is the name, without dashes, and the third one the help. */
  private void takeArgument(Matcher token) {
    if (token.group(COMMA) != null) {
      keyword = "";
      argument++;
    } else if (token.group(EQUALS) != null) {
      keyword = token.group(NAME);
    } else if (keyword.equals("help") || (isAbsl && keyword.isEmpty() && argument == 2)) {
      help.append(string(token));
    } else if (keyword.isEmpty() && (!isAbsl || argument == 0)) {
      String text = string(token);
      names.addAll(isAbsl ? List.of("--" + text) : List.of(text.split("/", -1)));
    }
  }

  private void end() {
    String about = Clean.line(help.toString().replaceAll("\\s+", " "));
    for (String name : names) {
      if (name.matches("--[A-Za-z][\\w.-]*")) {
        found.add(new Candidate(name, about));
      }
    }
    names.clear();
    help.setLength(0);
    keyword = "";
    argument = 0;
    depth = 0;
  }

  /** Empty for what is none. */
  private static String string(Matcher tokens) {
    for (int group = 1; group <= STRINGS; group++) {
      if (tokens.group(group) != null) {
        return tokens.group(group);
      }
    }
    return "";
  }
}
