package dev.gpush.backends.kubernetes.cluster;

import dev.gpush.backends.remote.GangTag;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import java.util.Optional;

/**
 * Facts about the gang in an annotation of its job and pods, because labels do not allow all
 * characters and lengths.
 */
public record PodTag(String gang, GangTag facts) {
  public static final String ANNOTATION = "gpush.dev/gang";

  /** On every object of gpush, with this value. */
  public static final String MANAGER_LABEL = "app.kubernetes.io/managed-by";

  public static final String MANAGER = "gpush";

  /** The gang's id, on everything of one gang. */
  public static final String GANG_LABEL = "gpush.dev/gang";

  public static PodTag of(GangRequest request, PodShape shape) {
    return new PodTag(request.gang().text(), GangTag.of(request, shape.gpuModel(), shape.cpus()));
  }

  /** Empty if gpush did not write it, or if it was changed. */
  public static Optional<PodTag> of(Json object) {
    try {
      return object
          .object("metadata")
          .object("annotations")
          .text(ANNOTATION)
          .map(Json::parse)
          .filter(said -> !said.text("gang").orElse("").isEmpty())
          .map(
              said ->
                  new PodTag(
                      said.text("gang").orElse(""),
                      new GangTag(
                          new Requester(
                              said.text("owner").orElse(""),
                              said.text("holder").orElse(""),
                              said.text("session").orElse(""),
                              said.text("project").orElse("")),
                          number(said, "nodes"),
                          number(said, "gpus"),
                          said.text("model").orElse(""),
                          number(said, "cpus"))));
    } catch (JsonSyntaxException rewritten) {
      return Optional.empty();
    }
  }

  private static int number(Json said, String key) {
    return Math.clamp(said.number(key).orElse(0L), 0, 1 << 20);
  }

  public String text() {
    Requester requester = facts.requester();
    return Json.object(
            "gang", gang,
            "owner", requester.owner(),
            "session", requester.session(),
            "holder", requester.holder(),
            "project", requester.project(),
            "nodes", facts.nodes(),
            "gpus", facts.gpus(),
            "model", facts.gpuModel(),
            "cpus", facts.cpus())
        .write();
  }

  /** A selector for all objects of one gang. */
  public static String selector(GangId gang) {
    return GANG_LABEL + "=" + gang.text();
  }
}
