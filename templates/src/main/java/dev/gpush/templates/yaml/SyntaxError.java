package dev.gpush.templates.yaml;

import com.fasterxml.jackson.dataformat.yaml.JacksonYAMLParseException;
import com.fasterxml.jackson.dataformat.yaml.snakeyaml.error.MarkedYAMLException;

/** What the parser does not take for YAML, and where; {@code index} counts code points. */
record SyntaxError(Position at, int index, String problem) {
  /** The parser's sentences are for people, but may quote the file. */
  private static final int MOST_WORDS = 200;

  /** Jackson calls the class old, and has no other way to the place of a mistake. */
  @SuppressWarnings("deprecation")
  static SyntaxError of(JacksonYAMLParseException refused) {
    if (refused instanceof MarkedYAMLException marked) {
      var mark = marked.getProblemMark();
      var at = new Position(mark.getLine() + 1, mark.getColumn() + 1);
      return new SyntaxError(at, mark.getIndex(), marked.getProblem());
    }
    return new SyntaxError(Position.START, 0, refused.getOriginalMessage());
  }

  Flaw tab() {
    return new Flaw(at, "", "a tab; YAML is indented with spaces");
  }

  Flaw flaw(ParserText text) {
    String what =
        problem.startsWith("expected <block end>")
            ? "this does not line up with the lines above"
            : clean(text.original(problem));
    return new Flaw(at, "", "is not YAML: " + what);
  }

  /** Capped and without control characters. */
  private static String clean(String message) {
    String plain = message.replaceAll("\\s+", " ").replaceAll("\\p{Cntrl}", "");
    return plain.length() <= MOST_WORDS ? plain : plain.substring(0, MOST_WORDS) + "…";
  }
}
