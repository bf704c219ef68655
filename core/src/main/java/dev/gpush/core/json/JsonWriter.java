package dev.gpush.core.json;

import java.util.List;
import java.util.Map;

/** Writes a value; everything outside printable ASCII is kept, control characters are escaped. */
final class JsonWriter {
  private final boolean indented;
  private final StringBuilder out = new StringBuilder();

  JsonWriter(boolean indented) {
    this.indented = indented;
  }

  String write(Json value) {
    append(value, 0);
    return out.toString();
  }

  private void append(Json value, int level) {
    switch (value) {
      case Json.Null _ -> out.append("null");
      case Json.Bool(var truth) -> out.append(truth);
      case Json.Int(var number) -> out.append(number);
      case Json.Real(var number) ->
          out.append(Double.isFinite(number) ? Double.toString(number) : "null");
      case Json.Text(var text) -> quote(text);
      case Json.Arr(var items) -> array(items, level);
      case Json.Obj(var fields) -> object(fields, level);
    }
  }

  private void array(List<Json> items, int level) {
    out.append('[');
    boolean first = true;
    for (Json item : items) {
      separate(first, level + 1);
      append(item, level + 1);
      first = false;
    }
    end(items.isEmpty(), level);
    out.append(']');
  }

  private void object(Map<String, Json> fields, int level) {
    out.append('{');
    boolean first = true;
    for (Map.Entry<String, Json> field : fields.entrySet()) {
      separate(first, level + 1);
      quote(field.getKey());
      out.append(indented ? ": " : ":");
      append(field.getValue(), level + 1);
      first = false;
    }
    end(fields.isEmpty(), level);
    out.append('}');
  }

  private void separate(boolean first, int level) {
    if (!first) {
      out.append(',');
    }
    line(level);
  }

  private void end(boolean empty, int level) {
    if (!empty) {
      line(level);
    }
  }

  private void line(int level) {
    if (indented) {
      out.append('\n').append("  ".repeat(level));
    }
  }

  private void quote(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          if (c < 0x20 || c == 0x7f || (Character.isSurrogate(c) && !paired(text, i))) {
            out.append(String.format("\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }

  private static boolean paired(String text, int at) {
    char c = text.charAt(at);
    return Character.isHighSurrogate(c)
        ? at + 1 < text.length() && Character.isLowSurrogate(text.charAt(at + 1))
        : at > 0 && Character.isHighSurrogate(text.charAt(at - 1));
  }
}
