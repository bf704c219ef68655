package dev.gpush.core.gang;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import java.util.Optional;
import java.util.regex.Pattern;

/** GPUs per node: {@code H100:8}, {@code 8}. A count of 0 means a CPU node. */
public record GpuRequest(Optional<String> model, int count) {
  public static final int MOST = 1024;

  /**
   * The form alone, without the limits of its numbers. Before a colon a model may begin with a
   * digit, as in {@code 3090:8}; alone it would be a count.
   */
  public static final Pattern RULE =
      Pattern.compile(
          "(?:([A-Za-z0-9][A-Za-z0-9_.-]{0,63}):)?([0-9]{1,4})|([A-Za-z][A-Za-z0-9_.-]{0,63})");

  public GpuRequest {
    if (count < 0 || count > MOST) {
      throw new IllegalArgumentException("GPUs per node: 0 to 1024, not " + count);
    }
  }

  public static GpuRequest none() {
    return new GpuRequest(Optional.empty(), 0);
  }

  /** GPUs of any model; empty for a number that no node can have. */
  public static Optional<GpuRequest> any(int count) {
    return count < 0 || count > MOST
        ? Optional.empty()
        : Optional.of(new GpuRequest(Optional.empty(), count));
  }

  /** {@code H100:8}, {@code 8}, or {@code H100} for one. */
  public static GpuRequest parse(String text) {
    var match = RULE.matcher(text);
    if (!match.matches()) {
      throw new GpushException(
          new UsageFailure.BadValue("--gpus", text, "MODEL:COUNT, COUNT or MODEL, per node"));
    }
    if (match.group(3) != null) {
      return new GpuRequest(Optional.of(match.group(3)), 1);
    }
    int count = Integer.parseInt(match.group(2));
    if (count > MOST) {
      throw new GpushException(new UsageFailure.BadValue("--gpus", text, "at most 1024 per node"));
    }
    if (count == 0 && match.group(1) != null) {
      throw new GpushException(
          new UsageFailure.BadValue(
              "--gpus", text, "MODEL:COUNT with a COUNT of 1 or more; 0 alone means no GPUs"));
    }
    return new GpuRequest(Optional.ofNullable(match.group(1)), count);
  }

  /**
   * The request that would have got this node's GPUs: a driver's name of a model becomes one word.
   */
  public static GpuRequest of(NodeInfo node) {
    if (!node.hasGpus()) {
      return none();
    }
    String word = node.gpuModel().replaceAll("[^A-Za-z0-9_.-]+", "-");
    return new GpuRequest(
        Optional.of(word).filter(each -> RULE.matcher(each + ":1").matches()), node.slots().size());
  }

  /** The same with the model that was given, where none was asked for. */
  public GpuRequest as(NodeInfo node) {
    return isNone() || model.isPresent() ? this : new GpuRequest(of(node).model(), count);
  }

  public boolean isNone() {
    return count == 0;
  }

  @Override
  public String toString() {
    return isNone() ? "cpu" : model.map(name -> name + ":").orElse("") + count;
  }
}
