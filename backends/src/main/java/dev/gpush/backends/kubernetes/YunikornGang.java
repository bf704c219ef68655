package dev.gpush.backends.kubernetes;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * YuniKorn: pods carry the description of their gang themselves. Its own default would place them
 * one by one after a quarter of an hour; here it never does.
 *
 * @param queue such as {@code root.research}; empty: as the site has it
 */
record YunikornGang(Optional<String> queue) implements GangSystem {
  private static final String GROUP = "gang";

  @Override
  public String name() {
    return "yunikorn";
  }

  @Override
  public Json.Obj marked(Json.Obj job, Manifest manifest) {
    var least = new TreeMap<String, String>();
    manifest
        .shape()
        .wants()
        .forEach(
            (resource, amount) -> {
              if (amount > 0 && !resource.equals("pods")) {
                least.put(resource, amount + (resource.equals(ClusterNode.CPU) ? "m" : ""));
              }
            });
    Json.Obj spec = job.object("spec").object("template").object("spec");
    Json.Obj group =
        Json.object("name", GROUP, "minMember", manifest.nodes(), "minResource", least)
            .with("tolerations", spec.get("tolerations").orElse(Json.array(List.of())))
            .with("affinity", spec.get("affinity").orElse(Json.object()));
    Json.Obj marked = Marks.podSpec(job, "schedulerName", "yunikorn");
    marked = Marks.podLabel(marked, "applicationId", manifest.name());
    if (queue.isPresent()) {
      marked = Marks.podLabel(marked, "queue", queue.get());
    }
    marked = Marks.podAnnotation(marked, "yunikorn.apache.org/task-group-name", GROUP);
    marked =
        Marks.podAnnotation(
            marked, "yunikorn.apache.org/task-groups", Json.array(List.of(group)).write());
    return Marks.podAnnotation(
        marked,
        "yunikorn.apache.org/schedulingPolicyParameters",
        "placeholderTimeoutInSeconds=600 gangSchedulingStyle=Hard");
  }

  @Override
  public List<Companion> companions(Json job, Manifest manifest) {
    return List.of();
  }

  @Override
  public Begin begin() {
    return Begin.AT_ONCE;
  }

  @Override
  public Optional<Waiting> waiting(Place place, Json job) {
    return Optional.empty();
  }
}
