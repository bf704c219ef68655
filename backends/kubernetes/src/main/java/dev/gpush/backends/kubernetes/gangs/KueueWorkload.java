package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.cluster.ClusterRoom;
import dev.gpush.backends.kubernetes.cluster.GpuKind;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.backends.kubernetes.gangs.GangSystem.Waiting;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Phrase;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** What Kueue has about a Job: why it waits, whose it is and what it asks for. */
record KueueWorkload(Json object) {
  /** These reasons do not end by waiting. */
  private static final Set<String> HOPELESS =
      Set.of("ExceedsMaxQuota", "NoMatchingFlavor", "Misconfigured");

  /**
   * An older Kueue has no such reasons. A quota that is too small is not only used up, and no other
   * flavor has enough.
   */
  private static final Pattern TOO_SMALL =
      Pattern.compile("(?s)(?!.*insufficient unused quota).*maximum capacity.*");

  static String name(Json object) {
    return object.object("metadata").text("name").orElse("");
  }

  String name() {
    return name(object);
  }

  /**
   * Why it waits.
   *
   * @return empty if it may start, and only its pods wait
   */
  Optional<Waiting> waiting() {
    Optional<Json> quota = condition("QuotaReserved");
    if (quota.filter(KueueWorkload::holds).isPresent()) {
      return condition("Admitted").filter(KueueWorkload::holds).isPresent()
          ? Optional.empty()
          : Optional.of(new Waiting(checks(), false));
    }
    String reason = quota.flatMap(it -> it.text("reason")).orElse("");
    String message = quota.flatMap(it -> it.text("message")).orElse("it is not its turn yet");
    return Optional.of(
        new Waiting(
            words(message), HOPELESS.contains(reason) || TOO_SMALL.matcher(message).matches()));
  }

  private Optional<Json> condition(String type) {
    return object.object("status").items("conditions").stream()
        .filter(each -> each.text("type").orElse("").equals(type))
        .findFirst();
  }

  private static boolean holds(Json condition) {
    return condition.text("status").orElse("").equals("True");
  }

  /** "insufficient unused quota for nvidia.com/gpu in flavor default, 16 more needed". */
  private static String words(String message) {
    return ClusterText.clean(
        message.replaceFirst("^couldn't assign flavors to pod set [^:]*: ", ""));
  }

  /** Besides the quota others may decide, such as an autoscaler that makes nodes. */
  private String checks() {
    List<String> open =
        object.object("status").items("admissionChecks").stream()
            .filter(check -> !check.text("state").orElse("").equals("Ready"))
            .map(KueueWorkload::check)
            .toList();
    return open.isEmpty()
        ? "it has quota and starts soon"
        : "it has quota and waits for " + Phrase.and(open);
  }

  private static String check(Json check) {
    String message = ClusterText.clean(check.text("message").orElse(""));
    return "the admission check "
        + ClusterText.clean(check.text("name").orElse(""))
        + (message.isEmpty() ? "" : " (" + message + ")");
  }

  /**
   * In a few words: "train (16 GPUs)", "bob's devbox (16 GPUs)".
   *
   * @param job that it was made for
   * @param own the owner of the request that asks
   */
  String words(String job, String own) {
    List<Json> sets = object.object("spec").items("podSets");
    Optional<Requester> of =
        sets.stream()
            .flatMap(set -> PodTag.of(set.object("template")).stream())
            .map(tag -> tag.facts().requester())
            .findFirst();
    String whose =
        of.map(it -> it.owner().equals(own) ? "your " : it.owner() + "'s ").orElse("")
            + of.map(Requester::session).orElse(job);
    long pods = 0;
    long gpus = 0;
    for (Json set : sets) {
      long count = set.number("count").orElse(1L);
      pods += count;
      gpus +=
          GpuKind.counted(ClusterRoom.requests(set.object("template")))
              .map(each -> count * each.getValue())
              .orElse(0L);
    }
    String size = gpus > 0 ? Phrase.counted(gpus, "GPU") : Phrase.counted(pods, "pod");
    return ClusterText.clean(whose) + (sets.isEmpty() ? "" : " (" + size + ")");
  }
}
