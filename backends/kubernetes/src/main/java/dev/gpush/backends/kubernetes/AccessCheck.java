package dev.gpush.backends.kubernetes;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.gangs.GangSystems;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;

/** The user's rights in the cluster, checked verb by verb. */
final class AccessCheck {
  /** Without these nothing works. docs/guide/kubernetes.md has them as a Role. */
  private static final List<Right> NEEDED =
      List.of(
          new Right("batch", "jobs", "", List.of("create", "get", "list", "patch", "delete"), true),
          new Right("", "pods", "", List.of("get", "list"), true),
          new Right("", "pods", "exec", List.of("get", "create"), true),
          new Right("", "services", "", List.of("create"), true),
          new Right("", "secrets", "", List.of("create"), true));

  private static final List<OptionalRight> OPTIONAL =
      List.of(
          new OptionalRight(
              new Right("", "nodes", "", List.of("list"), false),
              "which GPUs there are is known only after a try"),
          new OptionalRight(
              new Right("", "pods", "", List.of("list"), false),
              "whether there is room now is not known before it is tried"),
          new OptionalRight(
              new Right(
                  "coordination.k8s.io",
                  "leases",
                  "",
                  List.of("get", "create", "update", "delete"),
                  true),
              "two gangs that are placed at once may block each other and start again"),
          new OptionalRight(
              new Right("", "pods", "", List.of("delete"), true),
              "pods whose agents do not answer end by their own grace, not sooner"),
          new OptionalRight(
              new Right("", "events", "", List.of("list"), true),
              "why the cluster refuses pods, such as a quota, cannot be said"),
          new OptionalRight(
              new Right("", "resourcequotas", "", List.of("list"), true),
              "a quota that is too small is found late"),
          new OptionalRight(
              new Right("", "persistentvolumeclaims", "", List.of("get"), true),
              "a volume that does not exist is found late"),
          new OptionalRight(
              new Right("", "pods", "log", List.of("get"), true),
              "gpush cannot show the output of a container that did not start"));

  private final Namespace place;

  AccessCheck(Namespace place) {
    this.place = place;
  }

  private record Right(
      String group, String resource, String part, List<String> verbs, boolean inNamespace) {
    String words() {
      return resource + (part.isEmpty() ? "" : "/" + part);
    }
  }

  private record OptionalRight(Right right, String without) {}

  List<String> lines() throws InterruptedException, Unanswered {
    var lines = new ArrayList<String>();
    lines.add(place.api().server() + ", namespace " + place.namespace());
    GangSystems.Found found = GangSystems.of(place);
    lines.add("gangs by " + found.system().name() + ": " + found.why());
    List<String> missing = missingRights();
    lines.add(
        missing.isEmpty()
            ? "you have all rights that gpush needs there"
            : "you may not " + String.join("; nor ", missing));
    place
        .policy()
        .ifPresent(
            level ->
                lines.add(
                    "its namespace enforces "
                        + level
                        + ": pods may not lock memory (IPC_LOCK), without which InfiniBand may"
                        + " refuse to work"));
    for (OptionalRight optional : OPTIONAL) {
      if (!missing(optional.right()).isEmpty()) {
        lines.add(
            "you may not "
                + ClusterText.list(missing(optional.right()))
                + " "
                + optional.right().words()
                + (optional.right().inNamespace() ? "" : " of the cluster")
                + ": "
                + optional.without());
      }
    }
    return List.copyOf(lines);
  }

  /** The rights that gpush needs there and you do not have, in words. */
  List<String> missingRights() throws InterruptedException, Unanswered {
    var missing = new ArrayList<String>();
    for (Right right : NEEDED) {
      List<String> not = missing(right);
      if (!not.isEmpty()) {
        missing.add(ClusterText.list(not) + " " + right.words());
      }
    }
    return missing;
  }

  /**
   * Called before anything is reserved: pods without commands cannot be used.
   *
   * @throws GpushException with {@code Unavailable} when commands may not be run in pods
   */
  void requireCommands() throws InterruptedException, Unanswered {
    for (Right right : NEEDED) {
      List<String> not = right.part().equals("exec") ? missing(right) : List.of();
      if (!not.isEmpty()) {
        throw new GpushException(
            new BackendFailure.Unavailable(
                place.name(),
                "you may not "
                    + ClusterText.list(not)
                    + " "
                    + right.words()
                    + " in its namespace "
                    + place.namespace(),
                "gpush backends --explain"));
      }
    }
  }

  private List<String> missing(Right right) throws InterruptedException, Unanswered {
    var missing = new ArrayList<String>();
    for (String verb : right.verbs()) {
      if (!may(right, verb)) {
        missing.add(verb);
      }
    }
    return missing;
  }

  private boolean may(Right right, String verb) throws InterruptedException, Unanswered {
    Json.Obj attributes =
        Json.object(
            "group",
            right.group(),
            "resource",
            right.resource(),
            "subresource",
            right.part(),
            "verb",
            verb);
    Json.Obj review =
        Json.object(
            "apiVersion",
            "authorization.k8s.io/v1",
            "kind",
            "SelfSubjectAccessReview",
            "spec",
            Json.object(
                "resourceAttributes",
                right.inNamespace()
                    ? attributes.with("namespace", place.namespace())
                    : attributes));
    try {
      return place
          .api()
          .create("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)
          .object("status")
          .flag("allowed");
    } catch (ApiRefusal refusal) {
      throw new Unanswered(refusal.words(), refusal);
    }
  }
}
