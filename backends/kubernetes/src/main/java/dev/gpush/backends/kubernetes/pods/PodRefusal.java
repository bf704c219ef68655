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
 * Why the cluster did not create a pod of a Job: quotas, limits and policies apply when the
 * controller creates it, so only an event has the reason.
 *
 * @param message of the event
 */
public record PodRefusal(String message) {
  private static final Pattern FORBIDDEN = Pattern.compile("(?s).*? is forbidden: (.*)");

  /** "requested: requests.nvidia.com/gpu=8, used: …, limited: requests.nvidia.com/gpu=0". */
  private static final Pattern QUOTA =
      Pattern.compile("requested: ([^=,]+)=([^,]+),.*limited: (?:.*,)?\\1=([^, ]+)");

  /** A decision about the pod; what else an event reports, a webhook's timeout say, may pass. */
  private static final Pattern DECIDED =
      Pattern.compile(
          "(?s).* is forbidden: .*|.*admission webhook .* denied the request.*|.* is invalid: .*");

  /** Admission that cannot tell yet. */
  private static final Pattern UNDECIDED =
      Pattern.compile("(?s).*(not yet ready to handle request|status unknown for quota).*");

  /** The last one of a Job. */
  public static Optional<PodRefusal> of(Namespace place, Json job)
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
          .map(PodRefusal::new);
    } catch (ApiRefusal notAllowed) {
      return Optional.empty();
    }
  }

  public String words() {
    Matcher forbidden = FORBIDDEN.matcher(message);
    return ClusterText.clean(
        (forbidden.matches() ? forbidden.group(1) : message).replaceFirst("^error creating: ", ""));
  }

  /** A used quota may become free; a quota that is too small, and a policy, do not change. */
  public boolean isHopeless(int nodes) {
    Matcher quota = QUOTA.matcher(message);
    if (quota.find()) {
      long wanted = Quantity.whole(quota.group(2)).orElse(0L) * nodes;
      return wanted > Quantity.whole(quota.group(3)).orElse(Long.MAX_VALUE);
    }
    return DECIDED.matcher(message).matches()
        && !UNDECIDED.matcher(message).matches()
        && !message.contains("exceeded quota");
  }
}
