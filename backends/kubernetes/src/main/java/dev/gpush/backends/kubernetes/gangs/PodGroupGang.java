package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.objects.JobEdits;
import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Worded;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Schedulers that know a gang by an object named PodGroup, of which there are four different ones:
 * Kubernetes' own, Volcano's, that of the coscheduling plugin, and KAI's. They differ in how pods
 * refer to it and in its field for the number of pods.
 *
 * @param version of the object there
 * @param queue for schedulers with queues; empty: their default
 */
public record PodGroupGang(Kind kind, String version, Optional<String> queue)
    implements GangSystem {
  private static final String REMINDED = "gpush.dev/reminded";

  public enum Kind implements Worded {
    NATIVE("scheduling.k8s.io", ""),
    VOLCANO("scheduling.volcano.sh", "volcano"),
    COSCHEDULING("scheduling.x-k8s.io", "scheduler-plugins-scheduler"),
    KAI("scheduling.run.ai", "kai-scheduler");

    private final String group;
    private final String scheduler;

    Kind(String group, String scheduler) {
      this.group = group;
      this.scheduler = scheduler;
    }

    public String group() {
      return group;
    }
  }

  @Override
  public String name() {
    return kind.word();
  }

  private String api() {
    return "/apis/" + kind.group + "/" + version;
  }

  @Override
  public Json.Obj marked(Json.Obj job, GangObjects manifest) {
    String group = manifest.name();
    return switch (kind) {
      case NATIVE -> JobEdits.podSpec(job, "schedulingGroup", Json.object("podGroupName", group));
      case VOLCANO ->
          JobEdits.podAnnotation(
              JobEdits.podSpec(job, "schedulerName", kind.scheduler),
              "scheduling.k8s.io/group-name",
              group);
      case COSCHEDULING ->
          JobEdits.podLabel(
              JobEdits.podSpec(job, "schedulerName", kind.scheduler),
              "scheduling.x-k8s.io/pod-group",
              group);
      case KAI -> {
        Json.Obj named =
            JobEdits.podAnnotation(
                JobEdits.podAnnotation(
                    JobEdits.podSpec(job, "schedulerName", kind.scheduler),
                    "pod-group-name",
                    group),
                "kai.scheduler/skip-podgrouper",
                "true");
        yield JobEdits.podLabel(named, "kai.scheduler/queue", queue.orElse("default"));
      }
    };
  }

  @Override
  public List<Companion> companions(Json job, GangObjects manifest) {
    int nodes = manifest.nodes();
    Json.Obj members = Json.object("minMember", nodes);
    Json.Obj spec =
        switch (kind) {
          case NATIVE ->
              Json.object("schedulingPolicy", Json.object("gang", Json.object("minCount", nodes)));
          case VOLCANO -> members.with("queue", queue.orElse("default"));
          case COSCHEDULING -> members;
          case KAI -> members.with("queue", queue.orElse("default"));
        };
    return List.of(
        new Companion(
            api(), "podgroups", manifest.owned(job, kind.group + "/" + version, "PodGroup", spec)));
  }

  @Override
  public Begin begin() {
    return Begin.AT_ONCE;
  }

  /**
   * Coscheduling sets a refused gang aside until a pod or a group is created, and the end of other
   * pods does not count: without this a gang would wait for five minutes beside free nodes.
   */
  @Override
  public void remind(Namespace place, Json job) throws InterruptedException, Unanswered {
    if (kind == Kind.COSCHEDULING) {
      Json.Obj looked = Json.object(REMINDED, Long.toString(place.time().now().getEpochSecond()));
      try {
        place
            .api()
            .change(
                place.path(api(), "podgroups", Jobs.name(job)),
                Json.object("metadata", Json.object("annotations", looked)));
      } catch (ApiRefusal notAllowed) {
        // Then it tries again after its own five minutes.
      }
    }
  }

  /**
   * The group's reason is better than its pods': it has how many of them would fit. Kubernetes' own
   * only counts ("minCount (2) cannot be satisfied: 0 scheduled"), and the pods say what is
   * missing.
   */
  @Override
  public Optional<Waiting> waiting(Namespace place, Json job, Pods pods)
      throws InterruptedException, Unanswered {
    if (kind == Kind.NATIVE && pods.isRefused()) {
      return Optional.empty();
    }
    try {
      return place
          .api()
          .find(place.path(api(), "podgroups", Jobs.name(job)))
          .flatMap(PodGroupGang::words)
          .map(words -> new Waiting(words, false));
    } catch (ApiRefusal notAllowed) {
      return Optional.empty();
    }
  }

  /** The reason of a group that is not placed. KAI has its own conditions beside the usual ones. */
  static Optional<String> words(Json group) {
    Json.Obj status = group.object("status");
    return Stream.concat(
            status.items("schedulingConditions").stream(), status.items("conditions").stream())
        .filter(condition -> !says(condition, "type").equals("Scheduled"))
        .filter(
            condition ->
                says(condition, "type").startsWith("Unschedulable")
                    || says(condition, "status").equals("False"))
        .map(condition -> says(condition, "message"))
        .filter(message -> !message.isEmpty())
        .findFirst()
        .map(ClusterText::clean);
  }

  private static String says(Json condition, String key) {
    return condition.text(key).orElse("");
  }
}
