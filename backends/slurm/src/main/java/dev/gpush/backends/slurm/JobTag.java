package dev.gpush.backends.slurm;

import dev.gpush.backends.remote.GangTag;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.Requester;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Facts about the gang in its job's comment: the owner, the session, and everything that is needed
 * to find its nodes from another laptop.
 *
 * @param under the folder with one folder for each node
 */
public record JobTag(GangTag gang, String under) {
  private static final String FIRST = "gpush/1";

  public static JobTag of(GangRequest request, JobShape shape, String under) {
    return new JobTag(GangTag.of(request, shape.gpuModel(), shape.cpus()), under);
  }

  public String text() {
    Requester requester = gang.requester();
    return FIRST
        + field("owner", requester.owner())
        + field("session", requester.session())
        + field("holder", requester.holder())
        + field("project", requester.project())
        + field("nodes", Integer.toString(gang.nodes()))
        + field("gpus", Integer.toString(gang.gpus()))
        + field("model", gang.gpuModel())
        + field("cpus", Integer.toString(gang.cpus()))
        + field("under", under);
  }

  private static String field(String key, String value) {
    return " " + key + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  /** Empty if gpush did not write it, or if it was changed. */
  public static Optional<JobTag> parse(String comment) {
    if (!comment.startsWith(FIRST + " ")) {
      return Optional.empty();
    }
    Map<String, String> fields = new HashMap<>();
    for (String word : comment.split(" ", -1)) {
      int equals = word.indexOf('=');
      if (equals > 0) {
        decoded(word.substring(equals + 1))
            .ifPresent(value -> fields.put(word.substring(0, equals), value));
      }
    }
    String under = fields.getOrDefault("under", "");
    int nodes = number(fields.getOrDefault("nodes", ""));
    if (!under.startsWith("/") || nodes < 1 || nodes > GangRequest.MAX_NODES) {
      return Optional.empty();
    }
    return Optional.of(
        new JobTag(
            new GangTag(
                new Requester(
                    fields.getOrDefault("owner", ""),
                    fields.getOrDefault("holder", ""),
                    fields.getOrDefault("session", ""),
                    fields.getOrDefault("project", "")),
                nodes,
                number(fields.getOrDefault("gpus", "")),
                fields.getOrDefault("model", ""),
                number(fields.getOrDefault("cpus", ""))),
            under));
  }

  private static int number(String digits) {
    return digits.matches("[0-9]{1,6}") ? Integer.parseInt(digits) : 0;
  }

  private static Optional<String> decoded(String value) {
    try {
      return Optional.of(URLDecoder.decode(value, StandardCharsets.UTF_8));
    } catch (IllegalArgumentException broken) {
      return Optional.empty();
    }
  }

  /** The project's copy on a node. */
  public String workspace(int node) {
    return under + "/" + node + "/" + gang.requester().project();
  }
}
