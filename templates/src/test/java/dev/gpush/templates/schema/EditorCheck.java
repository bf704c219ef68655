package dev.gpush.templates.schema;

import com.networknt.schema.Error;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.io.UncheckedIOException;
import java.util.List;

/** What an editor marks in a file by gpush's JSON Schema; it reads YAML by itself. */
public final class EditorCheck {
  private static final SchemaRegistry REGISTRY =
      SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_7);

  private EditorCheck() {}

  public static List<String> problems(Place place, String yaml) {
    com.networknt.schema.Schema schema = REGISTRY.getSchema(JsonSchema.of(place).write());
    try {
      return schema.validate(yaml, InputFormat.YAML).stream().map(Error::toString).toList();
    } catch (UncheckedIOException noYaml) {
      return List.of("is not YAML");
    }
  }
}
