package dev.gpush.backends.kubernetes;

import dev.gpush.backends.floor.Text;
import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Why a pod does not run, in words for the person who wanted it.
 *
 * @param words complete without a subject: "its image cannot be pulled: …"
 * @param kind what follows from it
 */
record Fate(String words, Kind kind) {
  enum Kind {
    /** It waits for room. */
    UNPLACED,
    /** It has its place and is being made ready. */
    STARTING,
    /** As asked for it will never run. */
    BROKEN,
    /** No Python was found in the image. */
    NO_PYTHON,
    /** It was taken away; another one may come for it. */
    TAKEN,
  }

  /** Waiting for these never ends, or not before somebody does something. */
  private static final Set<String> HOPELESS =
      Set.of(
          "ImagePullBackOff",
          "InvalidImageName",
          "ErrImageNeverPull",
          "CreateContainerConfigError",
          "CreateContainerError",
          "RunContainerError");

  private static final int NO_PYTHON = 97;
  private static final int OLD_PYTHON = 98;

  /** Of a pod that is not running. */
  static Fate of(Json pod) {
    Json.Obj container = Pods.container(pod);
    Json.Obj waiting = container.object("state").object("waiting");
    Json.Obj ended =
        container.object("state").object("terminated").text("reason").isPresent()
            ? container.object("state").object("terminated")
            : container.object("lastState").object("terminated");
    String why = waiting.text("reason").orElse("");
    if (HOPELESS.contains(why)) {
      return new Fate(start(why, waiting.text("message").orElse("")), Kind.BROKEN);
    }
    if (ended.text("reason").isPresent()) {
      return ended(ended);
    }
    Optional<Fate> taken = taken(pod);
    if (taken.isPresent()) {
      return taken.get();
    }
    if (!Pods.isPlaced(pod)) {
      return new Fate(unplaced(pod), Kind.UNPLACED);
    }
    String node = pod.object("spec").text("nodeName").orElse("");
    return new Fate(
        switch (why) {
          case "ErrImagePull" ->
              "its image cannot be pulled yet: " + Text.clean(waiting.text("message").orElse(""));
          case "" -> "it is being started on " + node;
          case "ContainerCreating", "PodInitializing" ->
              "its image and volumes are fetched to " + node;
          default -> why + " on " + node;
        },
        Kind.STARTING);
  }

  private static String start(String reason, String message) {
    String said = message.isEmpty() ? reason : Text.clean(message);
    return switch (reason) {
      case "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull" ->
          "its image cannot be pulled: " + said;
      default -> unstarted(message.isEmpty() ? reason : message);
    };
  }

  private static String unstarted(String message) {
    return message.contains("exec: \"/bin/sh\"")
        ? "its image has no /bin/sh"
        : "its container cannot be started: " + Text.clean(message);
  }

  private static Fate ended(Json.Obj ended) {
    int code = ended.number("exitCode").orElse(0L).intValue();
    String reason = ended.text("reason").orElse("");
    if (code == NO_PYTHON || code == OLD_PYTHON) {
      return new Fate("its image has no Python 3.6 or later", Kind.NO_PYTHON);
    }
    if (reason.equals("StartError") || reason.equals("ContainerCannotRun")) {
      return new Fate(unstarted(ended.text("message").orElse("")), Kind.BROKEN);
    }
    return new Fate(
        reason.equals("OOMKilled")
            ? "it was killed because its memory was used up (OOMKilled)"
            : "its container ended with "
                + code
                + (reason.equals("Error") ? "" : " (" + reason + ")"),
        Kind.BROKEN);
  }

  private static Optional<Fate> taken(Json pod) {
    Json.Obj status = pod.object("status");
    String reason = status.text("reason").orElse("");
    if (reason.equals("Evicted")) {
      return of("it was evicted: " + Text.clean(status.text("message").orElse("")));
    }
    if (reason.equals("UnexpectedAdmissionError")) {
      return of("its node could not give it what it was promised; another try is made");
    }
    for (Json condition : status.items("conditions")) {
      if (condition.text("type").orElse("").equals("DisruptionTarget")
          && condition.text("status").orElse("").equals("True")) {
        return of(
            switch (condition.text("reason").orElse("")) {
              case "PreemptionByScheduler" -> "it was preempted by a pod with a higher priority";
              case "DeletionByTaintManager" -> "its node does not answer any more, or was tainted";
              case "EvictionByEvictionAPI" -> "it was evicted: its node is being drained";
              case "TerminationByKubelet" ->
                  "its node ended it: " + Text.clean(condition.text("message").orElse(""));
              case "DeletionByPodGC" -> "its node is gone";
              default -> "it was taken away: " + Text.clean(condition.text("message").orElse(""));
            });
      }
    }
    if (Pods.isEnding(pod)) {
      return of("it is being ended by somebody");
    }
    return reason.equals("NodeLost") ? of("its node is lost") : Optional.empty();
  }

  private static Optional<Fate> of(String words) {
    return Optional.of(new Fate(words, Kind.TAKEN));
  }

  /** What the scheduler says of it. */
  private static String unplaced(Json pod) {
    List<Json> conditions = pod.object("status").items("conditions");
    return conditions.stream()
        .filter(each -> each.text("type").orElse("").equals("PodScheduled"))
        .filter(each -> each.text("status").orElse("").equals("False"))
        .flatMap(each -> each.text("message").stream())
        .findFirst()
        .map(Fate::scheduler)
        .orElse("the scheduler has not looked at it yet");
  }

  /** "0/4 nodes are available: 3 Insufficient nvidia.com/gpu. no new claims …" up to the advice. */
  static String scheduler(String message) {
    String plain = message.replaceFirst("(?s)\\. (no new claims|preemption:).*", "");
    return Text.clean(plain);
  }
}
