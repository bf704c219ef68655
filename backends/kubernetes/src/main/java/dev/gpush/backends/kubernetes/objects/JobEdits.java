package dev.gpush.backends.kubernetes.objects;

import dev.gpush.core.json.Json;
import java.util.function.UnaryOperator;

/** Changes to a Job that is not created yet. */
public final class JobEdits {
  private JobEdits() {}

  public static Json.Obj label(Json.Obj job, String key, String value) {
    return at(job, "metadata", metadata -> put(metadata, "labels", key, value));
  }

  static Json.Obj annotation(Json.Obj job, String key, String value) {
    return at(job, "metadata", metadata -> put(metadata, "annotations", key, value));
  }

  public static Json.Obj podLabel(Json.Obj job, String key, String value) {
    return template(job, pod -> label(pod, key, value));
  }

  public static Json.Obj podAnnotation(Json.Obj job, String key, String value) {
    return template(job, pod -> annotation(pod, key, value));
  }

  public static Json.Obj podSpec(Json.Obj job, String key, Object value) {
    return template(job, pod -> at(pod, "spec", spec -> spec.with(key, value)));
  }

  private static Json.Obj template(Json.Obj job, UnaryOperator<Json.Obj> change) {
    return at(job, "spec", spec -> at(spec, "template", change));
  }

  private static Json.Obj put(Json.Obj metadata, String map, String key, String value) {
    return at(metadata, map, all -> all.with(key, value));
  }

  private static Json.Obj at(Json.Obj object, String key, UnaryOperator<Json.Obj> change) {
    return object.with(key, change.apply(object.object(key)));
  }
}
