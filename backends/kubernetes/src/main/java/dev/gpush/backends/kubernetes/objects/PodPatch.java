package dev.gpush.backends.kubernetes.objects;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.templates.yaml.Flaw;
import dev.gpush.templates.yaml.Yaml;
import dev.gpush.templates.yaml.YamlReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/**
 * The user's patch for pods: a file in the form of a pod ({@code metadata}, {@code spec}) that is
 * merged as kubectl's strategic patch would: maps are merged, lists of named items by name, mounts
 * by their path, ports by their number and protocol, and other lists are joined. A container
 * without a name means gpush's container.
 */
public final class PodPatch {
  /** The keys by which items of a list are matched; the first that an item has. */
  private static final List<String> KEYS = List.of("mountPath", "containerPort", "name");

  private PodPatch() {}

  /**
   * Reads the file again for each gang, so that edits take effect.
   *
   * @throws GpushException with {@code Unavailable} when the file cannot be used
   */
  public static Json.Obj read(String backend, String file) {
    byte[] bytes;
    try {
      bytes = Files.readAllBytes(Path.of(file));
    } catch (IOException unreadable) {
      throw unusable(backend, "cannot be read: " + unreadable.getMessage(), file);
    }
    YamlReader.Reading reading = YamlReader.read(bytes);
    if (!reading.flaws().isEmpty()) {
      Flaw first = reading.flaws().getFirst();
      throw unusable(backend, "line " + first.at().line() + ": " + first.what(), file);
    }
    Json.Obj patch = reading.content().map(PodPatch::object).orElse(Json.object());
    Optional<String> odd =
        patch.entries().keySet().stream()
            .filter(key -> !key.equals("metadata") && !key.equals("spec"))
            .findFirst();
    if (odd.isPresent()) {
      throw unusable(
          backend, "it begins with metadata: or spec:, as a pod does, not with " + odd.get(), file);
    }
    if (hasDirective(patch)) {
      throw unusable(
          backend, "gpush only adds and replaces; it has no $patch and no other directive", file);
    }
    return patch;
  }

  /** {@code $patch: delete} and the like: as a field of a pod they would be refused, or ignored. */
  private static boolean hasDirective(Json json) {
    return switch (json) {
      case Json.Obj(var fields) ->
          fields.entrySet().stream()
              .anyMatch(field -> field.getKey().startsWith("$") || hasDirective(field.getValue()));
      case Json.Arr(var items) -> items.stream().anyMatch(PodPatch::hasDirective);
      case Json.Null _, Json.Bool _, Json.Int _, Json.Real _, Json.Text _ -> false;
    };
  }

  private static GpushException unusable(String backend, String why, String file) {
    return new GpushException(
        new BackendFailure.Unavailable(backend, "pod.patch " + file + ": " + why, "cat " + file));
  }

  private static Json.Obj object(Yaml.Mapping mapping) {
    var fields = new LinkedHashMap<String, Json>();
    for (Yaml.Entry entry : mapping.entries()) {
      fields.put(entry.key(), json(entry.value()));
    }
    return new Json.Obj(fields);
  }

  private static Json json(Yaml yaml) {
    return switch (yaml) {
      case Yaml.Mapping mapping -> object(mapping);
      case Yaml.Sequence(_, var items) -> Json.array(items.stream().map(PodPatch::json).toList());
      case Yaml.Scalar scalar when scalar.isNothing() -> new Json.Null();
      case Yaml.Scalar(_, var text, var isPlain) -> isPlain ? plain(text) : Json.of(text);
    };
  }

  private static Json plain(String text) {
    if (text.matches("true|True|TRUE|false|False|FALSE")) {
      return Json.of(text.equalsIgnoreCase("true"));
    }
    if (text.matches("-?(0|[1-9][0-9]{0,17})")) {
      return Json.of(Long.parseLong(text));
    }
    return text.matches("-?[0-9]+\\.[0-9]+") ? Json.of(Double.parseDouble(text)) : Json.of(text);
  }

  /** The Job with the patch merged into its pods. */
  public static Json.Obj laid(Json.Obj job, Json.Obj patch) {
    Json.Obj spec = job.object("spec");
    Json merged = merged(spec.object("template"), named(patch));
    return job.with("spec", spec.with("template", merged));
  }

  private static Json.Obj named(Json.Obj patch) {
    Json.Obj spec = patch.object("spec");
    if (spec.items("containers").isEmpty()) {
      return patch;
    }
    List<Json> containers =
        spec.items("containers").stream()
            .<Json>map(
                each ->
                    each.text("name").isPresent()
                        ? each
                        : new Json.Obj(each.entries()).with("name", GangObjects.CONTAINER))
            .toList();
    return patch.with("spec", spec.with("containers", containers));
  }

  static Json merged(Json ours, Json theirs) {
    if (ours instanceof Json.Obj(var fields) && theirs instanceof Json.Obj(var more)) {
      var all = new LinkedHashMap<>(fields);
      more.forEach((key, value) -> all.merge(key, value, (one, other) -> merged(one, other)));
      return new Json.Obj(all);
    }
    if (ours instanceof Json.Arr(var items) && theirs instanceof Json.Arr(var more)) {
      return Json.array(joined(items, more));
    }
    return theirs;
  }

  private static List<Json> joined(List<Json> items, List<Json> more) {
    var all = new ArrayList<>(items);
    for (Json item : more) {
      int same = same(all, item);
      if (same >= 0) {
        all.set(same, merged(all.get(same), item));
      } else {
        all.add(item);
      }
    }
    return all;
  }

  private static int same(List<Json> items, Json item) {
    for (String key : KEYS) {
      Optional<Json> value = item.get(key);
      if (value.isPresent()) {
        for (int at = 0; at < items.size(); at++) {
          Json other = items.get(at);
          if (other.get(key).equals(value) && protocol(other).equals(protocol(item))) {
            return at;
          }
        }
        return -1;
      }
    }
    return -1;
  }

  /** Of a port; others have none, and are equal in it. */
  private static String protocol(Json item) {
    return item.text("protocol").orElse("TCP");
  }
}
