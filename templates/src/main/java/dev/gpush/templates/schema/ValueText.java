package dev.gpush.templates.schema;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.DurationText;
import dev.gpush.templates.schema.ValueType.Simple;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

/** A value as people write it in a file: {@code 1h} where 3600 is kept. */
public final class ValueText {
  private static final List<String> UNITS = List.of("TB", "GB", "MB", "kB");
  private static final List<String> BINARY_UNITS = List.of("TiB", "GiB", "MiB", "KiB");

  private ValueText() {}

  /** Empty for no value. */
  public static String of(ValueType type, Json value) {
    return switch (value) {
      case Json.Null _ -> "";
      case Json.Arr(var items) ->
          items.stream().map(item -> one(type, item)).collect(Collectors.joining(", "));
      case Json.Obj _, Json.Text _, Json.Int _, Json.Real _, Json.Bool _ -> one(type, value);
    };
  }

  private static String one(ValueType type, Json value) {
    return switch (value) {
      case Json.Int(var seconds) when type == Simple.SPAN || type == Simple.SPANS ->
          DurationText.exact(Duration.ofSeconds(seconds));
      case Json.Int(var bytes) when type == Simple.SIZE -> size(bytes);
      case Json.Text(var warning) when type == Simple.WARNING -> warning(warning);
      case Json.Obj fields when type == Simple.VARIABLES -> pairs(fields, "=");
      case Json.Obj fields when type == Simple.PRICES -> pairs(fields, " ");
      case Json.Obj host when type == Simple.HOSTS -> host(host);
      case Json.Text(var text) -> text;
      case Json.Null _, Json.Int _, Json.Real _, Json.Bool _, Json.Arr _, Json.Obj _ ->
          value.write();
    };
  }

  /** In the largest unit that is exact. */
  private static String size(long bytes) {
    if (bytes == 0) {
      return "0";
    }
    for (int i = 0; i < UNITS.size(); i++) {
      long decimal = (long) Math.pow(1000, UNITS.size() - i);
      long binary = 1L << (10 * (UNITS.size() - i));
      if (bytes % decimal == 0) {
        return bytes / decimal + UNITS.get(i);
      }
      if (bytes % binary == 0) {
        return bytes / binary + BINARY_UNITS.get(i);
      }
    }
    return bytes + "B";
  }

  /** Kept as {@code USR1@600}. */
  private static String warning(String kept) {
    int at = kept.indexOf('@');
    return kept.substring(0, at + 1)
        + DurationText.exact(Duration.ofSeconds(Long.parseLong(kept.substring(at + 1))));
  }

  private static String pairs(Json.Obj fields, String between) {
    return fields.entries().entrySet().stream()
        .map(field -> field.getKey() + between + plain(field.getValue()))
        .collect(Collectors.joining(", "));
  }

  private static String host(Json.Obj host) {
    String name = host.text("host").orElse("");
    return host.entries().size() == 1 ? name : "{" + pairs(host, ": ") + "}";
  }

  private static String plain(Json value) {
    return value.asText().orElseGet(value::write);
  }
}
