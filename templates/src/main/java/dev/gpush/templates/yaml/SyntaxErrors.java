package dev.gpush.templates.yaml;

import com.fasterxml.jackson.dataformat.yaml.JacksonYAMLParseException;
import com.fasterxml.jackson.dataformat.yaml.snakeyaml.error.Mark;
import com.fasterxml.jackson.dataformat.yaml.snakeyaml.error.MarkedYAMLException;
import dev.gpush.core.text.CleanText;

/** Finds where a text stops being YAML, and why. */
final class SyntaxErrors {
  /** The parser's sentences are for people, but may quote the file. */
  private static final int MAX_LENGTH = 200;

  private SyntaxErrors() {}

  /** The class is deprecated, but Jackson has no other one with the position of an error. */
  @SuppressWarnings("deprecation")
  static Flaw flaw(JacksonYAMLParseException notYaml, Source source) {
    if (!(notYaml instanceof MarkedYAMLException marked)) {
      return new Flaw(Position.START, "", "is not YAML: " + clean(notYaml.getOriginalMessage()));
    }
    Mark mark = marked.getProblemMark();
    var at = new Position(mark.getLine() + 1, mark.getColumn() + 1);
    if (source.isTab(mark.getIndex())) {
      return new Flaw(at, "", "a tab; YAML is indented with spaces");
    }
    String problem = marked.getProblem();
    boolean isIndentation = problem.startsWith("expected <block end>");
    String why = isIndentation ? "this does not line up with the lines above" : clean(problem);
    return new Flaw(at, "", "is not YAML: " + why);
  }

  /** Capped and without control characters. */
  private static String clean(String message) {
    return CleanText.line(message.replaceAll("\\s+", " "), MAX_LENGTH);
  }
}
