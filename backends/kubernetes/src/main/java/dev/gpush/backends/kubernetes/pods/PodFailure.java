package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.core.json.Json;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Why a pod does not run, in words for its user.
 *
 * @param words a clause: "its image cannot be pulled: …"
 * @param kind decides what to do
 */
public record PodFailure(String words, Kind kind) {
  public enum Kind {
    /** It waits for room. */
    UNPLACED,
    /** It is placed and being started. */
    STARTING,
    /** Its start has failed and is tried again, which may help. */
    RETRIED,
    /** A registry does not give its image. This is tried again too, and seldom helps. */
    REFUSED,
    /** It will never run as requested. */
    BROKEN,
    /** The image has no Python, or no shell to find it with. */
    NO_PYTHON,
    /** It was removed; another one may replace it. */
    TAKEN,
  }

  /** These reasons never end without a change by the user. */
  private static final Set<String> NO_IMAGE = Set.of("InvalidImageName", "ErrImageNeverPull");

  private static final Set<String> PULLS = Set.of("ErrImagePull", "ImagePullBackOff");

  /** The kubelet tries again: a registry is busy, a secret comes later, a disk is slow. */
  private static final Set<String> RETRIED =
      Set.of("CreateContainerConfigError", "CreateContainerError", "RunContainerError");

  /** What a registry says to those who may not have an image. */
  private static final Pattern DENIED =
      Pattern.compile(
          "(?i)denied|unauthorized|forbidden|no basic auth credentials|authorization failed"
              + "|authentication required");

  private static final Pattern ABSENT =
      Pattern.compile("(?i)not found|(manifest|name) unknown|invalid reference");

  /** The names of images and registries. */
  private static final Pattern NAMES = Pattern.compile("\"[^\"]*\"|https?://\\S+");

  /** What kubelets and runtimes say before the words of the registry, with the name in each. */
  private static final Pattern BEFORE_THE_REGISTRY =
      Pattern.compile(
          "^(Back-off pulling image \"[^\"]*\": |ErrImagePull: |rpc error: code = \\w+ desc = "
              + "|failed to pull and unpack image \"[^\"]*\": "
              + "|failed to resolve reference \"[^\"]*\": |Error response from daemon: )+");

  private static final String NO_SHELL = "its image has no /bin/sh";

  private static final int NO_PYTHON = 97;
  private static final int OLD_PYTHON = 98;

  /** Of a pod that is not running. */
  public static PodFailure of(Json pod) {
    Optional<PodFailure> before = beforehand(pod);
    if (before.isPresent()) {
      return before.get();
    }
    Json.Obj container = Pods.container(pod);
    Json.Obj waiting = container.object("state").object("waiting");
    Json.Obj ended = lastEnd(container);
    String why = waiting.text("reason").orElse("");
    Optional<PodFailure> unstarted = unstarted(container);
    if (unstarted.isPresent()) {
      return unstarted.get();
    }
    if (ended.text("reason").isPresent()) {
      return ended(ended);
    }
    Optional<PodFailure> taken = taken(pod);
    if (taken.isPresent()) {
      return taken.get();
    }
    if (!Pods.isPlaced(pod)) {
      return new PodFailure(unplaced(pod), Kind.UNPLACED);
    }
    String node = pod.object("spec").text("nodeName").orElse("");
    return new PodFailure(
        switch (why) {
          case "" -> "it is being started on " + node;
          case "ContainerCreating", "PodInitializing" ->
              "its image and volumes are fetched to " + node;
          default -> why + " on " + node;
        },
        Kind.STARTING);
  }

  /** The failure of an init container, which must end well before gpush's container starts. */
  private static Optional<PodFailure> beforehand(Json pod) {
    for (Json each : pod.object("status").items("initContainerStatuses")) {
      String of = "its init container " + each.text("name").orElse("") + ": ";
      Optional<PodFailure> unstarted = unstarted(each);
      if (unstarted.isPresent()) {
        Kind kind = unstarted.get().kind();
        return Optional.of(
            new PodFailure(
                of + unstarted.get().words(), kind == Kind.NO_PYTHON ? Kind.BROKEN : kind));
      }
      if (hasFailed(each)) {
        boolean isOver = Pods.hasEnded(pod);
        return Optional.of(
            new PodFailure(of + ended(lastEnd(each)).words(), isOver ? Kind.BROKEN : Kind.RETRIED));
      }
    }
    return Optional.empty();
  }

  private static boolean hasFailed(Json container) {
    return lastEnd(container).number("exitCode").orElse(0L) != 0
        && container.object("state").get("running").isEmpty();
  }

  /** How a container has ended, now or the last time; an empty object if it never has. */
  private static Json.Obj lastEnd(Json container) {
    Json.Obj now = container.object("state").object("terminated");
    return now.text("reason").isPresent()
        ? now
        : container.object("lastState").object("terminated");
  }

  /** The container whose log has the reason why a pod does not run; empty if none has ended. */
  public static Optional<String> speaker(Json pod) {
    return Stream.concat(
            pod.object("status").items("initContainerStatuses").stream(),
            Stream.of(Pods.container(pod)))
        .filter(PodFailure::hasFailed)
        .findFirst()
        .flatMap(container -> container.text("name"));
  }

  /** How the container of a pod ended before it was restarted; empty if it was not restarted. */
  public static Optional<String> before(Json pod) {
    Json.Obj last = Pods.container(pod).object("lastState").object("terminated");
    return last.text("reason").map(_ -> ended(last).words());
  }

  /** Why a pod ends or has ended; empty if it runs. */
  static Optional<String> end(Json pod) {
    if (!Pods.isEnding(pod) && !Pods.hasEnded(pod)) {
      return Optional.empty();
    }
    Json.Obj container = lastEnd(Pods.container(pod));
    Optional<String> own =
        Pods.isEnding(pod)
            ? Optional.of("its pod was deleted")
            : container.text("reason").map(_ -> ended(container).words());
    return disruption(pod).map(PodFailure::words).or(() -> own);
  }

  /** Why a container that waits cannot be started; empty if nothing has failed. */
  private static Optional<PodFailure> unstarted(Json container) {
    Json.Obj waiting = container.object("state").object("waiting");
    String reason = waiting.text("reason").orElse("");
    String message = waiting.text("message").orElse("");
    if (NO_IMAGE.contains(reason) || PULLS.contains(reason)) {
      return Optional.of(unpulled(container.text("image"), reason, message));
    }
    if (!RETRIED.contains(reason)) {
      return Optional.empty();
    }
    PodFailure broken = broken(unstarted(message.isEmpty() ? reason : message));
    return Optional.of(
        broken.kind() == Kind.NO_PYTHON ? broken : new PodFailure(broken.words(), Kind.RETRIED));
  }

  private static PodFailure unpulled(Optional<String> image, String reason, String message) {
    String registry = BEFORE_THE_REGISTRY.matcher(message).replaceFirst("");
    String said = registry.isEmpty() ? reason : ClusterText.clean(registry);
    String what = "its image" + image.map(name -> " " + name).orElse("") + " cannot be pulled";
    String anonymous = NAMES.matcher(message).replaceAll("");
    if (DENIED.matcher(anonymous).find()) {
      return new PodFailure(
          what + ": " + said + "; the cluster's token for the registry may have expired",
          Kind.REFUSED);
    }
    boolean isRefused = NO_IMAGE.contains(reason) || ABSENT.matcher(anonymous).find();
    return isRefused
        ? new PodFailure(what + ": " + said, Kind.REFUSED)
        : new PodFailure(what + " yet: " + said, Kind.RETRIED);
  }

  private static PodFailure broken(String words) {
    return new PodFailure(words, words.equals(NO_SHELL) ? Kind.NO_PYTHON : Kind.BROKEN);
  }

  private static String unstarted(String message) {
    return message.contains("exec: \"/bin/sh\"")
        ? NO_SHELL
        : "its container cannot be started: " + ClusterText.clean(message);
  }

  private static PodFailure ended(Json.Obj ended) {
    int code = ended.integer("exitCode").orElse(0);
    String reason = ended.text("reason").orElse("");
    if (code == NO_PYTHON || code == OLD_PYTHON) {
      return new PodFailure("its image has no Python 3.6 or later", Kind.NO_PYTHON);
    }
    if (reason.equals("StartError") || reason.equals("ContainerCannotRun")) {
      return broken(unstarted(ended.text("message").orElse("")));
    }
    return new PodFailure(
        reason.equals("OOMKilled")
            ? "it was killed because its memory was used up (OOMKilled)"
            : "its container ended with "
                + code
                + (reason.equals("Error") ? "" : " (" + reason + ")"),
        Kind.BROKEN);
  }

  private static Optional<PodFailure> taken(Json pod) {
    return disruption(pod)
        .or(() -> Pods.isEnding(pod) ? of("it is being deleted") : Optional.empty());
  }

  private static Optional<PodFailure> disruption(Json pod) {
    Json.Obj status = pod.object("status");
    String reason = status.text("reason").orElse("");
    if (reason.equals("Evicted")) {
      return of("it was evicted: " + ClusterText.clean(status.text("message").orElse("")));
    }
    if (reason.equals("UnexpectedAdmissionError")) {
      return of("its node could not provide its resources; it is tried again");
    }
    for (Json condition : status.items("conditions")) {
      if (condition.text("type").orElse("").equals("DisruptionTarget")
          && condition.text("status").orElse("").equals("True")) {
        return of(
            switch (condition.text("reason").orElse("")) {
              case "PreemptionByScheduler" -> "it was preempted by a pod with a higher priority";
              case "DeletionByTaintManager" -> "its node does not answer, or was tainted";
              case "EvictionByEvictionAPI" -> "it was evicted: its node is being drained";
              case "TerminationByKubelet" ->
                  "its node ended it: " + ClusterText.clean(condition.text("message").orElse(""));
              case "DeletionByPodGC" -> "its node is gone";
              default ->
                  "it was deleted: " + ClusterText.clean(condition.text("message").orElse(""));
            });
      }
    }
    return reason.equals("NodeLost") ? of("its node is lost") : Optional.empty();
  }

  private static Optional<PodFailure> of(String words) {
    return Optional.of(new PodFailure(words, Kind.TAKEN));
  }

  /** The scheduler's reason. */
  private static String unplaced(Json pod) {
    return refusal(pod)
        .map(PodFailure::scheduler)
        .orElse("the scheduler has not considered it yet");
  }

  /** Whether the scheduler has reported that it cannot place the pod. */
  static boolean isRefused(Json pod) {
    return refusal(pod).isPresent();
  }

  private static Optional<String> refusal(Json pod) {
    return pod.object("status").items("conditions").stream()
        .filter(each -> each.text("type").orElse("").equals("PodScheduled"))
        .filter(each -> each.text("status").orElse("").equals("False"))
        .flatMap(each -> each.text("message").stream())
        .findFirst();
  }

  /** "0/4 nodes are available: 3 Insufficient nvidia.com/gpu. no new claims …" up to the advice. */
  public static String scheduler(String message) {
    String plain = message.replaceFirst("(?s)\\. (no new claims|preemption:).*", "");
    return ClusterText.clean(plain);
  }
}
