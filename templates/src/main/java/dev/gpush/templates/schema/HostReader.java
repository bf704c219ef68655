package dev.gpush.templates.schema;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Nearest;
import dev.gpush.templates.yaml.Flaw;
import dev.gpush.templates.yaml.Yaml;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/** Reads the machines of an inventory: each a word, or {@code {host: …, port: 2222, …}}. */
final class HostReader {
  private static final int MOST = 1024;

  /** {@code [user@]host[:port]}, with ranges in brackets; what is in them is the backend's. */
  private static final Pattern HOST =
      Pattern.compile("[A-Za-z0-9_\\[][A-Za-z0-9_.@:,%\\\\\\[\\]-]{0,254}");

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.:%-]{0,254}");
  private static final Pattern USER = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.+\\\\-]{0,127}");
  private static final Pattern TRANSPORT = Pattern.compile("openssh|builtin");
  private static final Pattern PORT = Pattern.compile("[0-9]{1,5}");
  private static final List<String> KEYS =
      List.of("host", "user", "port", "gpus", "address", "transport");

  private final String path;
  private final Consumer<Flaw> flaws;

  HostReader(String path, Consumer<Flaw> flaws) {
    this.path = path;
    this.flaws = flaws;
  }

  Optional<Json> read(ValueType type, Yaml yaml) {
    if (!(yaml instanceof Yaml.Sequence(_, var items))) {
      flaw(yaml, "must be " + type.words());
      return Optional.empty();
    }
    if (items.isEmpty() || items.size() > MOST) {
      flaw(yaml, "must be " + type.words() + ", 1 to " + MOST + " of them");
      return Optional.empty();
    }
    return ValueReader.all(items, this::host);
  }

  static Json.Obj jsonSchema() {
    Json.Obj keys =
        Json.object(
            "host", ValueSchema.matching(HOST),
            "user", ValueSchema.matching(USER),
            "port", ValueSchema.numberOr(PORT),
            "gpus", ValueSchema.of(ValueType.Simple.GPUS),
            "address", ValueSchema.matching(NAME),
            "transport", ValueSchema.matching(TRANSPORT));
    Json.Obj described =
        Json.object("type", "object", "properties", keys)
            .with("required", List.of("host"))
            .with("additionalProperties", false);
    return ValueSchema.list(
        Json.object("anyOf", List.of(ValueSchema.matching(HOST), described)), MOST);
  }

  private Optional<Json> host(Yaml item) {
    return switch (item) {
      case Yaml.Scalar scalar when HOST.matcher(scalar.text()).matches() ->
          Optional.of(Json.object("host", scalar.text()));
      case Yaml.Mapping mapping -> described(mapping);
      case Yaml.Scalar _, Yaml.Sequence _ -> {
        flaw(item, "must be a machine: [USER@]HOST[:PORT], or {host: HOST, port: 2222}");
        yield Optional.empty();
      }
    };
  }

  private Optional<Json> described(Yaml.Mapping mapping) {
    Json.Obj host = Json.object();
    boolean isGood = true;
    for (Yaml.Entry entry : mapping.entries()) {
      Optional<Object> value = value(entry);
      if (value.isEmpty()) {
        isGood = false;
      } else {
        host = host.with(entry.key(), value.get());
      }
    }
    if (isGood && host.text("host").isEmpty()) {
      flaw(mapping, "has no host: {host: gpu01, …}");
      return Optional.empty();
    }
    return isGood ? Optional.of(host) : Optional.empty();
  }

  private Optional<Object> value(Yaml.Entry entry) {
    String key = entry.key();
    if (!KEYS.contains(key)) {
      String what = "is not a key of a machine; the keys are " + String.join(", ", KEYS);
      flaws.accept(new Flaw(entry.at(), path + "." + key, what, Nearest.one(key, KEYS)));
      return Optional.empty();
    }
    String text = entry.value() instanceof Yaml.Scalar scalar ? scalar.text() : "";
    Optional<Object> value =
        switch (key) {
          case "host" -> matching(HOST, text);
          case "user" -> matching(USER, text);
          case "address" -> matching(NAME, text);
          case "transport" -> matching(TRANSPORT, text);
          case "port" -> matching(PORT, text).map(_ -> Long.valueOf(text));
          default -> gpus(text);
        };
    if (value.isEmpty()) {
      flaws.accept(new Flaw(entry.at(), path + "." + key, "has a value that cannot be used"));
    }
    return value;
  }

  private static Optional<Object> matching(Pattern rule, String text) {
    return rule.matcher(text).matches() ? Optional.of(text) : Optional.empty();
  }

  private static Optional<Object> gpus(String text) {
    try {
      return Optional.of(GpuRequest.parse(text).toString());
    } catch (GpushException notGpus) {
      return Optional.empty();
    }
  }

  private void flaw(Yaml yaml, String what) {
    flaws.accept(new Flaw(yaml.at(), path, what));
  }
}
