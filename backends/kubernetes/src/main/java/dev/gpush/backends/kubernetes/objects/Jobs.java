package dev.gpush.backends.kubernetes.objects;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.core.json.Json;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the status of a Job. */
public final class Jobs {
  public static final String GROUP = "/apis/batch/v1";

  private Jobs() {}

  public static String name(Json job) {
    return job.object("metadata").text("name").orElse("");
  }

  public static boolean isSuspended(Json job) {
    return job.object("spec").flag("suspend");
  }

  public static boolean isBeingDeleted(Json job) {
    return job.object("metadata").text("deletionTimestamp").isPresent();
  }

  /** How it ended; empty while it runs. */
  public static Optional<String> end(Json job) {
    for (Json condition : job.object("status").items("conditions")) {
      boolean holds = condition.text("status").orElse("").equals("True");
      String type = condition.text("type").orElse("");
      if (holds && type.equals("Complete")) {
        return Optional.of("its agents have ended: the lease is over");
      }
      if (holds && type.equals("Failed")) {
        String reason = condition.text("reason").orElse("");
        return Optional.of(
            reason.equals("DeadlineExceeded")
                ? "its lease is over (the deadline of its job)"
                : "its job has failed: "
                    + ClusterText.clean(reason + " " + condition.text("message").orElse("")));
      }
    }
    return Optional.empty();
  }

  /** Nodes whose agents have ended for good: "0,2-3". */
  public static List<Integer> ended(Json job) {
    var ended = new ArrayList<Integer>();
    String text = job.object("status").text("completedIndexes").orElse("");
    for (String part : text.split(",", -1)) {
      if (part.matches("[0-9]{1,4}(-[0-9]{1,4})?")) {
        String[] ends = part.split("-", -1);
        for (int node = Integer.parseInt(ends[0]);
            node <= Integer.parseInt(ends[ends.length - 1]);
            node++) {
          ended.add(node);
        }
      }
    }
    return List.copyOf(ended);
  }

  /** When its pods started, by the server's clock. */
  public static Optional<Instant> start(Json job) {
    try {
      return job.object("status").text("startTime").map(Instant::parse);
    } catch (DateTimeParseException odd) {
      return Optional.empty();
    }
  }
}
