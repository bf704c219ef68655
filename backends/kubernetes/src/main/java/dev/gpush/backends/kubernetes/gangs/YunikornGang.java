package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.cluster.Quantity;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.objects.JobEdits;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * YuniKorn: the pods themselves have the description of their gang. For each of them YuniKorn makes
 * a placeholder, a pod that holds room until all have room. A gang holds its first placeholders
 * while it waits for the others, so two gangs can wait for each other; and after too long YuniKorn
 * fails the gang for good. So gpush starts a gang only when there is room for all of it, one at a
 * time, and takes it back before YuniKorn fails it.
 *
 * @param queue such as {@code root.research}; empty: the site's default
 * @param assembly after this time an incomplete gang is taken back
 */
public record YunikornGang(Optional<String> queue, Duration assembly) implements GangSystem {
  private static final String GROUP = "gang";

  /** Longer than gpush waits: for gangs whose gateway has died. */
  private static final Duration GIVEN_UP = Duration.ofMinutes(2);

  /** For this time it treats new pods as more of the former ones, and makes no placeholders. */
  private static final Duration REST = Duration.ofSeconds(45);

  /** Reasons of pods that it has failed. It does not try them again under the same name. */
  private static final Set<String> HOPELESS =
      Set.of("ApplicationRejected", "ResourceReservationTimeout");

  @Override
  public String name() {
    return "yunikorn";
  }

  @Override
  public Json.Obj marked(Json.Obj job, GangObjects manifest) {
    Json.Obj template = job.object("spec").object("template");
    Json.Obj marked = JobEdits.podSpec(job, "schedulerName", "yunikorn");
    marked = JobEdits.podLabel(marked, "applicationId", manifest.name());
    if (queue.isPresent()) {
      marked = JobEdits.podLabel(marked, "queue", queue.get());
    }
    marked = JobEdits.podAnnotation(marked, "yunikorn.apache.org/task-group-name", GROUP);
    marked =
        JobEdits.podAnnotation(
            marked,
            "yunikorn.apache.org/task-groups",
            Json.array(List.of(group(template, manifest.nodes()))).write());
    return JobEdits.podAnnotation(
        marked,
        "yunikorn.apache.org/schedulingPolicyParameters",
        "placeholderTimeoutInSeconds="
            + assembly.plus(GIVEN_UP).toSeconds()
            + " gangSchedulingStyle=Hard");
  }

  /** Placeholders have the pods' size, node selection and labels. */
  private static Json.Obj group(Json.Obj template, int nodes) {
    Json.Obj spec = template.object("spec");
    Json.Obj group =
        Json.object(
            "name",
            GROUP,
            "minMember",
            nodes,
            "minResource",
            Json.of(least(spec)),
            "labels",
            Json.of(ours(template)));
    for (String key :
        List.of("nodeSelector", "tolerations", "affinity", "topologySpreadConstraints")) {
      Optional<Json> value = spec.get(key);
      if (value.isPresent()) {
        group = group.with(key, value.get());
      }
    }
    return group;
  }

  private static Map<String, String> ours(Json.Obj template) {
    var ours = new TreeMap<>(template.object("metadata").object("labels").textMap());
    ours.keySet().retainAll(Set.of(PodTag.MANAGER_LABEL, PodTag.GANG_LABEL));
    return ours;
  }

  /** Includes resources that a patch has added. */
  private static Map<String, String> least(Json.Obj spec) {
    var all = new TreeMap<String, String>();
    for (Json container : spec.items("containers")) {
      var least = new TreeMap<String, String>();
      for (String kind : List.of("limits", "requests")) {
        container
            .object("resources")
            .object(kind)
            .entries()
            .forEach((name, amount) -> least.put(name, amount.asText().orElse(amount.write())));
      }
      least.forEach((name, amount) -> all.merge(name, amount, Quantity::sum));
    }
    return all;
  }

  @Override
  public Begin begin() {
    return Begin.ASSEMBLED;
  }

  @Override
  public Duration rest() {
    return REST;
  }

  @Override
  public Optional<Waiting> waiting(Namespace place, Json job, Pods pods) {
    return pods.all().stream()
        .map(pod -> pod.object("status"))
        .filter(status -> HOPELESS.contains(status.text("reason").orElse("")))
        .findFirst()
        .map(
            status ->
                new Waiting(
                    "YuniKorn does not take it: "
                        + ClusterText.clean(status.text("message").orElse("").strip()),
                    true));
  }
}
