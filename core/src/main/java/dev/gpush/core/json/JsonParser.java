package dev.gpush.core.json;

import java.util.ArrayList;
import java.util.LinkedHashMap;

/** Recursive descent over RFC 8259, with limits because the text may come from another machine. */
final class JsonParser {
  /** Deeper nesting is an attack on the stack, not data. */
  private static final int MAX_DEPTH = 64;

  private final String text;
  private int at;
  private int depth;

  JsonParser(String text) {
    this.text = text;
  }

  Json parse() {
    Json value = value();
    space();
    if (at < text.length()) {
      throw wrong("unexpected text after the value");
    }
    return value;
  }

  private Json value() {
    space();
    if (at >= text.length()) {
      throw wrong("unexpected end");
    }
    return switch (text.charAt(at)) {
      case '{' -> object();
      case '[' -> array();
      case '"' -> new Json.Text(string());
      case 't' -> word("true", new Json.Bool(true));
      case 'f' -> word("false", new Json.Bool(false));
      case 'n' -> word("null", new Json.Null());
      default -> number();
    };
  }

  private Json object() {
    enter();
    var fields = new LinkedHashMap<String, Json>();
    at++;
    space();
    if (peek('}')) {
      return leave(new Json.Obj(fields));
    }
    while (true) {
      space();
      if (at >= text.length() || text.charAt(at) != '"') {
        throw wrong("expected a key");
      }
      String key = string();
      space();
      expect(':');
      if (fields.put(key, value()) != null) {
        throw wrong("key given twice");
      }
      space();
      if (peek('}')) {
        return leave(new Json.Obj(fields));
      }
      expect(',');
    }
  }

  private Json array() {
    enter();
    var items = new ArrayList<Json>();
    at++;
    space();
    if (peek(']')) {
      return leave(new Json.Arr(items));
    }
    while (true) {
      items.add(value());
      space();
      if (peek(']')) {
        return leave(new Json.Arr(items));
      }
      expect(',');
    }
  }

  private String string() {
    at++;
    var out = new StringBuilder();
    while (at < text.length()) {
      char c = text.charAt(at++);
      if (c == '"') {
        return out.toString();
      }
      if (c < 0x20) {
        throw wrong("control character in a string");
      }
      out.append(c == '\\' ? escape() : c);
    }
    throw wrong("string without end");
  }

  private char escape() {
    if (at >= text.length()) {
      throw wrong("string without end");
    }
    char c = text.charAt(at++);
    return switch (c) {
      case '"', '\\', '/' -> c;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> unicode();
      default -> throw wrong("unknown escape");
    };
  }

  private char unicode() {
    if (at + 4 > text.length()) {
      throw wrong("short unicode escape");
    }
    int code = 0;
    for (int i = 0; i < 4; i++) {
      int digit = Character.digit(text.charAt(at++), 16);
      if (digit < 0) {
        throw wrong("bad unicode escape");
      }
      code = code * 16 + digit;
    }
    return (char) code;
  }

  private Json number() {
    int start = at;
    boolean real = false;
    if (peekAt('-')) {
      at++;
    }
    digits();
    if (peekAt('.')) {
      real = true;
      at++;
      digits();
    }
    if (peekAt('e') || peekAt('E')) {
      real = true;
      at++;
      if (peekAt('+') || peekAt('-')) {
        at++;
      }
      digits();
    }
    String digits = text.substring(start, at);
    if (!real && leadingZero(digits)) {
      throw wrong("number with a leading zero");
    }
    try {
      return real
          ? new Json.Real(Double.parseDouble(digits))
          : new Json.Int(Long.parseLong(digits));
    } catch (NumberFormatException tooLarge) {
      return new Json.Real(Double.parseDouble(digits));
    }
  }

  private static boolean leadingZero(String digits) {
    String plain = digits.startsWith("-") ? digits.substring(1) : digits;
    return plain.length() > 1 && plain.charAt(0) == '0';
  }

  private void digits() {
    int start = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    if (at == start) {
      throw wrong("expected a value");
    }
  }

  private Json word(String word, Json value) {
    if (!text.startsWith(word, at)) {
      throw wrong("expected " + word);
    }
    at += word.length();
    return value;
  }

  private void enter() {
    if (++depth > MAX_DEPTH) {
      throw wrong("nested deeper than " + MAX_DEPTH);
    }
  }

  private Json leave(Json value) {
    depth--;
    return value;
  }

  private boolean peek(char c) {
    if (peekAt(c)) {
      at++;
      return true;
    }
    return false;
  }

  private boolean peekAt(char c) {
    return at < text.length() && text.charAt(at) == c;
  }

  private void expect(char c) {
    if (!peek(c)) {
      throw wrong("expected '" + c + "'");
    }
  }

  private void space() {
    while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private JsonSyntaxException wrong(String rule) {
    return new JsonSyntaxException(rule, at);
  }
}
