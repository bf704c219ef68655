package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.gangs.PodGroupGang.Kind;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Finds out what schedules gangs in a cluster, from the APIs that the server has. */
public final class GangSystems {
  private GangSystems() {}

  /**
   * What places gangs there.
   *
   * @param why in words, for {@code gpush backends --explain}
   */
  public record Found(GangSystem system, String why) {}

  /** The one in the configuration, else the one that the cluster has. */
  public static Found of(Namespace place) throws InterruptedException, Unanswered {
    Map<String, List<String>> groups = groups(place);
    KubernetesSettings settings = place.settings();
    return switch (settings.scheduling().system()) {
      case "plain" -> new Found(new PlainGang(), "gang: plain");
      case "kueue" ->
          new Found(
              kueue(place, groups)
                  .orElseThrow(
                      () ->
                          missing(
                              place,
                              groups.containsKey(KueueGang.GROUP)
                                  ? "Kueue needs queue: here, the name of a LocalQueue"
                                  : "it has no Kueue",
                              place.kubectl("get localqueues"))),
              "gang: kueue");
      case "yunikorn" ->
          new Found(
              new YunikornGang(settings.scheduling().queue(), settings.scheduling().assembly()),
              "gang: yunikorn");
      case "native" -> chosen(place, groups, Kind.NATIVE);
      case "volcano" -> chosen(place, groups, Kind.VOLCANO);
      case "coscheduling" -> chosen(place, groups, Kind.COSCHEDULING);
      case "kai" -> chosen(place, groups, Kind.KAI);
      default -> found(place, groups);
    };
  }

  private static Found chosen(Namespace place, Map<String, List<String>> groups, Kind kind)
      throws InterruptedException, Unanswered {
    return new Found(
        podGroups(place, groups, kind)
            .orElseThrow(
                () ->
                    missing(
                        place,
                        "it has no podgroups of " + kind.group(),
                        place.settings().access().kubectl() + " api-resources")),
        "gang: " + place.settings().scheduling().system());
  }

  private static GpushException missing(Namespace place, String reason, String remedy) {
    return new GpushException(new BackendFailure.Unavailable(place.name(), reason, remedy));
  }

  private static Found found(Namespace place, Map<String, List<String>> groups)
      throws InterruptedException, Unanswered {
    Optional<GangSystem> kueue = kueue(place, groups);
    if (kueue.isPresent()) {
      return new Found(kueue.get(), "the cluster has Kueue, with a queue for this namespace");
    }
    for (Kind kind : List.of(Kind.VOLCANO, Kind.KAI, Kind.COSCHEDULING, Kind.NATIVE)) {
      // KAI takes no gang without a queue of its own.
      if (kind != Kind.KAI || place.settings().scheduling().queue().isPresent()) {
        Optional<GangSystem> system = podGroups(place, groups, kind);
        if (system.isPresent()) {
          return new Found(system.get(), "podgroups of " + kind.group() + " are served");
        }
      }
    }
    return new Found(
        new PlainGang(), "the cluster has no gang scheduler, so gpush places one gang at a time");
  }

  /** Versions by group, the preferred one first. */
  private static Map<String, List<String>> groups(Namespace place)
      throws InterruptedException, Unanswered {
    var groups = new HashMap<String, List<String>>();
    Json apis;
    try {
      apis = place.api().get("/apis");
    } catch (ApiRefusal refusal) {
      throw place.notAllowed("see which APIs there are", refusal);
    }
    for (Json group : apis.items("groups")) {
      var versions = new ArrayList<String>();
      group.object("preferredVersion").text("version").ifPresent(versions::add);
      for (Json each : group.items("versions")) {
        each.text("version").filter(one -> !versions.contains(one)).ifPresent(versions::add);
      }
      groups.put(group.text("name").orElse(""), versions);
    }
    return groups;
  }

  private static Optional<GangSystem> podGroups(
      Namespace place, Map<String, List<String>> groups, Kind kind)
      throws InterruptedException, Unanswered {
    for (String version : groups.getOrDefault(kind.group(), List.of())) {
      // In 1.35 pods refer to other objects, which later versions removed.
      boolean isTooOld = kind == Kind.NATIVE && version.equals("v1alpha1");
      if (!isTooOld && serves(place, "/apis/" + kind.group() + "/" + version, "podgroups")) {
        return Optional.of(new PodGroupGang(kind, version, place.settings().scheduling().queue()));
      }
    }
    return Optional.empty();
  }

  private static boolean serves(Namespace place, String group, String kind)
      throws InterruptedException, Unanswered {
    try {
      return place.api().get(group).items("resources").stream()
          .anyMatch(each -> each.text("name").orElse("").equals(kind));
    } catch (ApiRefusal none) {
      return false;
    }
  }

  /** With the queue that was named, or the only one that the namespace has. */
  private static Optional<GangSystem> kueue(Namespace place, Map<String, List<String>> groups)
      throws InterruptedException, Unanswered {
    List<String> versions = groups.getOrDefault(KueueGang.GROUP, List.of());
    if (versions.isEmpty()) {
      return Optional.empty();
    }
    String version = versions.contains("v1beta2") ? "v1beta2" : versions.getFirst();
    String api = "/apis/" + KueueGang.GROUP + "/" + version;
    List<Json> queues;
    try {
      queues = place.api().get(place.path(api, "localqueues")).items("items");
    } catch (ApiRefusal notAllowed) {
      return place
          .settings()
          .scheduling()
          .queue()
          .map(queue -> new KueueGang(queue, version, Optional.empty()));
    }
    Optional<String> named = place.settings().scheduling().queue();
    Optional<Json> chosen =
        named.isPresent()
            ? queues.stream().filter(queue -> name(queue).equals(named.get())).findFirst()
            : queues.stream().filter(_ -> queues.size() == 1).findFirst();
    if (named.isPresent() && chosen.isEmpty()) {
      String there = ClusterText.list(queues.stream().map(GangSystems::name).toList());
      throw missing(
          place,
          "its namespace "
              + place.namespace()
              + " has no LocalQueue "
              + named.get()
              + (queues.isEmpty() ? "" : "; there are " + there),
          place.kubectl("get localqueues"));
    }
    if (chosen.isEmpty()) {
      return Optional.empty();
    }
    Optional<String> near = new KueueTopology(place, api).label(chosen.get());
    return Optional.of(new KueueGang(name(chosen.get()), version, near));
  }

  private static String name(Json object) {
    return object.object("metadata").text("name").orElse("");
  }
}
