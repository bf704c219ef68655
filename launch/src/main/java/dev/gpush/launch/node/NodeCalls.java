package dev.gpush.launch.node;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What launching needs of one node. Every method blocks and throws {@link GpushException} with an
 * {@link AgentFailure} when the agent refuses or the link is over; while a link is cut they wait.
 * Thread-safe.
 */
public interface NodeCalls {
  int HIGHEST_PORT = 65_535;

  /** Whether the node is known to be gone for good; "cannot tell" is not lost. */
  default boolean isLost() {
    return false;
  }

  /** Whether a node refused because its disk hangs or it has too few descriptors: both may pass. */
  static boolean mayPass(GpushException failed) {
    return failed.failure() instanceof AgentFailure.Refused(_, var code, _)
        && (code.equals("timeout") || code.equals("limit"));
  }

  /** A {@code call} stream of docs/technical/link.md. */
  Json call(String method, Json.Obj params) throws InterruptedException;

  /** A port that is free there now; empty when its answer has none. */
  default Optional<Integer> freePort() throws InterruptedException {
    return call("ports", Json.object("count", 1)).items("ports").stream()
        .findFirst()
        .flatMap(port -> Json.object("port", port).integer("port"))
        .filter(port -> port > 0 && port <= HIGHEST_PORT);
  }

  /**
   * The builtin {@code follow}: the output of the node's supervisor, records as in
   * docs/technical/runs.md. One that ends is whole: with {@code follow} that is when the run has
   * ended. One that broke, or that the node cannot read on, throws from read. That of a run that
   * the node does not know is empty with {@code follow}, and refused without ({@code not-found}).
   */
  InputStream follow(Json.Obj arguments) throws IOException, InterruptedException;

  /**
   * Runs a short command in the environment of every shell of the node, without standard input.
   *
   * @param environment takes precedence over the node's own
   * @param limit after it the command is ended and the answer is a failure
   */
  Answer ask(List<String> arguments, Map<String, String> environment, Duration limit)
      throws InterruptedException;

  /**
   * Runs a command that may take long in the same environment.
   *
   * @param lines gets what it prints, line by line, from one thread at a time
   * @return its status (128 + n for a signal)
   */
  int watch(List<String> arguments, Map<String, String> environment, Consumer<String> lines)
      throws InterruptedException;

  /** Why a node did not do what it was asked, in a few words. */
  static String why(GpushException failed) {
    if (failed.failure() instanceof AgentFailure.Refused(_, var code, _)) {
      return "the agent could not do it (" + code + ")";
    }
    return failed.failure() instanceof AgentFailure.LinkOver
        ? "the connection to the node broke"
        : "the agent cannot be asked now";
  }

  /** Tells a link that is over from one whose agent was just replaced. One thread. */
  final class LinkFailures {
    /** So often in a row it may be the latter. */
    private static final int MOST_OVER = 3;

    private int over;

    /** Whether another call over the link may be answered: this failure does not end it. */
    public boolean mayPass(GpushException failed) {
      boolean isOver = failed.failure() instanceof AgentFailure.LinkOver;
      over = isOver ? over + 1 : 0;
      return isOver ? over <= MOST_OVER : failed.failure() instanceof AgentFailure.Refused;
    }

    /** A call was answered. */
    public void answered() {
      over = 0;
    }
  }

  /** How a command ended: its status (128 + n for a signal) and the beginning of what it wrote. */
  record Answer(int exit, String output, String errors) {}
}
