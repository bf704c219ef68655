package dev.gpush.backends.kubernetes.pods;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.ApiServer;
import dev.gpush.backends.kubernetes.cluster.Quantity;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.json.Json;
import java.util.Comparator;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Pods of a Job that the cluster refuses: quotas, limits and policies apply when the controller
 * creates them, so only an event has the reason.
 */
public final class PodRefusals {
  private static final Pattern FORBIDDEN = Pattern.compile("(?s).*? is forbidden: (.*)");

  /** "requested: requests.nvidia.com/gpu=8, used: …, limited: requests.nvidia.com/gpu=0". */
  private static final Pattern QUOTA =
      Pattern.compile("requested: ([^=,]+)=([^,]+),.*limited: (?:.*,)?\\1=([^, ]+)");

  private PodRefusals() {}

  /** The last one of a Job. */
  public static Optional<String> of(Namespace place, Json job)
      throws InterruptedException, Unanswered {
    String selector =
        "involvedObject.uid="
            + job.object("metadata").text("uid").orElse("")
            + ",reason=FailedCreate";
    try {
      return place
          .api()
          .get(place.path("/api/v1", "events") + "?fieldSelector=" + ApiServer.encoded(selector))
          .items("items")
          .stream()
          .max(Comparator.comparing(event -> event.text("lastTimestamp").orElse("")))
          .flatMap(event -> event.text("message"))
          .map(PodRefusals::words);
    } catch (ApiRefusal notAllowed) {
      return Optional.empty();
    }
  }

  public static String words(String message) {
    Matcher forbidden = FORBIDDEN.matcher(message);
    return ClusterText.clean(
        (forbidden.matches() ? forbidden.group(1) : message).replaceFirst("^error creating: ", ""));
  }

  /** A used quota may become free; a quota that is too small, and a policy, do not change. */
  public static boolean isHopeless(String words, int nodes) {
    Matcher quota = QUOTA.matcher(words);
    if (quota.find()) {
      long wanted = Quantity.whole(quota.group(2)).orElse(0L) * nodes;
      return wanted > Quantity.whole(quota.group(3)).orElse(Long.MAX_VALUE);
    }
    return !words.contains("exceeded quota");
  }
}
