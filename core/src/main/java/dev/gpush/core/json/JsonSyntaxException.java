package dev.gpush.core.json;

/** The text is not JSON, or goes beyond the limits; names the offset and the rule. */
public final class JsonSyntaxException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public JsonSyntaxException(String rule, int offset) {
    super(rule + " at offset " + offset);
  }
}
