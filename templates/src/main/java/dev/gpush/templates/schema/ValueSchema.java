package dev.gpush.templates.schema;

import dev.gpush.core.config.DataPlace;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.PortTarget;
import dev.gpush.core.task.DurationText;
import dev.gpush.templates.schema.ValueType.FolderOnNodes;
import dev.gpush.templates.schema.ValueType.OneOf;
import dev.gpush.templates.schema.ValueType.PlaceOfData;
import dev.gpush.templates.schema.ValueType.Simple;
import dev.gpush.templates.schema.ValueType.Whole;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What {@link ValueReader} reads, as JSON Schema. Text may look like a number, because YAML makes
 * one of {@code 3.11}.
 */
final class ValueSchema {
  private static final Pattern FOLDER =
      Pattern.compile("(/|~$|~/|\\$(?!\\{?USER\\b))[^\\x00-\\x1f]*");
  private static final Pattern VOLUME = Pattern.compile("pvc/[^\\x00-\\x1f]+");

  private ValueSchema() {}

  static Json.Obj of(ValueType type) {
    return switch (type) {
      case Simple.TEXT -> text();
      case Simple.TEXTS -> oneOrMore(text(), ValueReader.MOST_NAMES);
      case Simple.SPAN -> matching(DurationText.SHAPE);
      case Simple.SPANS -> list(matching(DurationText.SHAPE), ValueReader.MOST_WARNINGS);
      case Simple.WARNING -> matching(ValueReader.WARNING);
      case Simple.SIZE -> numberOr(ValueReader.SIZE).with("minimum", 0);
      case Simple.GPUS ->
          numberOr(GpuRequest.RULE).with("minimum", 0).with("maximum", GpuRequest.MOST);
      case Simple.COMMITS -> numberOr(ValueReader.COMMITS).with("minimum", 1);
      case Simple.PORTS ->
          oneOrMore(
              numberOr(PortTarget.FORM).with("minimum", 1).with("maximum", PortTarget.LAST_PORT),
              ValueReader.MOST_NAMES);
      case Simple.VARIABLES ->
          Json.object(
              "type",
              List.of("object", "null"),
              "propertyNames",
              matching(ValueReader.VARIABLE),
              "additionalProperties",
              scalar(),
              "maxProperties",
              ValueReader.MOST_VARIABLES);
      case Simple.PRICES ->
          Json.object(
              "type",
              "object",
              "additionalProperties",
              Json.object("type", List.of("number", "string"), "minimum", 0)
                  .with("pattern", whole(ValueReader.PRICE)),
              "maxProperties",
              ValueReader.MOST_NAMES);
      case Simple.BACKEND_NAMES ->
          list(matching(ValueReader.NAME), ValueReader.MOST_NAMES).with("uniqueItems", true);
      case Simple.HOSTS -> HostReader.jsonSchema();
      case Simple.YES_NO -> Json.object("type", "boolean");
      case Simple.TEMPLATE_NAME -> matching(ValueReader.NAME);
      case Simple.ABSOLUTE_PATH -> matching(ValueReader.ABSOLUTE);
      case Simple.FILE_PATH -> matching(ValueReader.FILE);
      case Simple.MOUNTS ->
          Json.object(
              "type",
              "object",
              "propertyNames",
              matching(ValueReader.MOUNT)
                  .with("not", Json.object("enum", DataPlace.TAKEN.stream().sorted().toList())),
              "additionalProperties",
              place(DataPlace.Form.READ),
              "maxProperties",
              ValueReader.MOST_NAMES);
      case Whole(var least, var most) ->
          Json.object("type", "integer", "minimum", least, "maximum", most);
      case FolderOnNodes _ -> matching(FOLDER);
      case PlaceOfData(var form) -> place(form);
      case OneOf(var choices) -> Json.object("enum", choices);
    };
  }

  private static Json.Obj place(DataPlace.Form form) {
    return switch (form) {
      case READ, WRITTEN -> Json.object("anyOf", List.of(matching(FOLDER), matching(VOLUME)));
      case VOLUME -> matching(VOLUME);
    };
  }

  private static Json.Obj scalar() {
    return Json.object("type", List.of("string", "number", "boolean"))
        .with("maxLength", ValueReader.MOST_TEXT);
  }

  /** Any text but an empty one. */
  private static Json.Obj text() {
    return scalar().with("minLength", 1);
  }

  /** A text as a whole. */
  static Json.Obj matching(Pattern rule) {
    return Json.object("type", "string", "pattern", whole(rule));
  }

  /** A text, or a number, which has its own limits. */
  static Json.Obj numberOr(Pattern rule) {
    return matching(rule).with("type", List.of("string", "integer"));
  }

  private static String whole(Pattern rule) {
    return "^(?:" + rule.pattern() + ")$";
  }

  static Json.Obj list(Json.Obj items, int most) {
    return Json.object("type", "array", "items", items, "minItems", 1, "maxItems", most);
  }

  private static Json.Obj oneOrMore(Json.Obj item, int most) {
    return Json.object("anyOf", List.of(item, list(item, most)));
  }
}
