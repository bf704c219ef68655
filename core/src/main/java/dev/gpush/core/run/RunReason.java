package dev.gpush.core.run;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Worded;
import java.util.List;
import java.util.Optional;

/**
 * Why a rank failed, as its node found out (docs/technical/runs.md). Made from the facts that the
 * node wrote; the sentence is made in the shell.
 */
public sealed interface RunReason {
  /** A Python exception; a module that is missing is one, too. */
  record Raised(String type, String message) implements RunReason {}

  /** CUDA refused something. */
  record GpuError(String type, String message, List<Xid> xids) implements RunReason {
    public GpuError {
      xids = List.copyOf(xids);
    }
  }

  /** The kernel killed it because there was no memory. */
  record OutOfMemory(Scope scope, Optional<Long> limit, Optional<String> process)
      implements RunReason {}

  /** It touched memory for which {@code /dev/shm} had no room. */
  record SharedMemoryFull(Optional<Long> size) implements RunReason {}

  /** A file system had no room, or the user's quota is used up. */
  record DiskFull(Optional<String> path, boolean isQuota, String message) implements RunReason {}

  /** A collective operation waited too long for another rank. */
  record CollectiveTimeout(String by, Optional<String> operation, Optional<Long> millis)
      implements RunReason {}

  /** Another rank was gone; it failed before this one. */
  record PeerGone(String type, String message) implements RunReason {}

  /** The ranks never met. */
  record Rendezvous(
      Optional<Long> joined,
      Optional<Long> expected,
      Optional<String> address,
      Optional<Long> millis)
      implements RunReason {}

  /** A signal ended it; {@code message} is what a library said before. */
  record Signalled(int signal, String message, List<Xid> xids) implements RunReason {
    public Signalled {
      xids = List.copyOf(xids);
    }
  }

  /** It ended itself, without a traceback. */
  record Exited(int status) implements RunReason {}

  /** A node's part of the run has no result, and nothing of it runs there. */
  record NodeLost(Loss loss) implements RunReason {}

  /** Why a node has no result. */
  enum Loss implements Worded {
    /** The node itself is gone. */
    NODE,
    SUPERVISOR,
    /** The gateway ended while it was starting the run, before it reached this node. */
    START
  }

  /** Of a newer agent. */
  record Other(String code) implements RunReason {}

  /** Whose limit was met. */
  enum Scope {
    CGROUP,
    MACHINE,
    UNKNOWN
  }

  /** An error that the GPU's driver wrote to the kernel's log. */
  record Xid(long number, String gpu, String text) {}

  /**
   * The reason that these facts tell.
   *
   * @param facts {@code code} and what belongs to it
   * @param exit the exit status, where the facts are of an agent that gives no reasons
   */
  static RunReason from(Json facts, Optional<Integer> exit, Optional<Integer> signal) {
    String message = facts.text("message").orElse("");
    String type = facts.text("type").orElse("");
    return switch (facts.text("code").orElse("")) {
      case "import", "exception" -> new Raised(type, message);
      case "cuda", "cuda-memory" -> new GpuError(type, message, xids(facts));
      case "memory" ->
          new OutOfMemory(
              switch (facts.text("scope").orElse("")) {
                case "cgroup" -> Scope.CGROUP;
                case "machine" -> Scope.MACHINE;
                default -> Scope.UNKNOWN;
              },
              facts.number("limit"),
              facts.text("process"));
      case "shared-memory" -> new SharedMemoryFull(facts.number("size"));
      case "disk-full" -> new DiskFull(facts.text("path"), facts.flag("quota"), message);
      case "collective-timeout" ->
          new CollectiveTimeout(
              facts.text("by").orElse(""), facts.text("operation"), facts.number("ms"));
      case "peer" -> new PeerGone(type, message);
      case "rendezvous" ->
          new Rendezvous(
              facts.number("joined"),
              facts.number("expected"),
              facts.text("address").map(host -> host + ":" + facts.number("port").orElse(0L)),
              facts.number("ms"));
      case "signal" -> new Signalled(facts.integer("signal").orElse(0), message, xids(facts));
      case "node-lost" ->
          new NodeLost(
              Worded.of(Loss.class, facts.text("what").orElse("")).orElse(Loss.SUPERVISOR));
      case "exit", "" ->
          signal
              .<RunReason>map(number -> new Signalled(number, "", List.of()))
              .orElseGet(() -> new Exited(exit.orElse(0)));
      default -> new Other(facts.text("code").orElse(""));
    };
  }

  private static List<Xid> xids(Json facts) {
    return facts.items("xids").stream()
        .map(
            xid ->
                new Xid(
                    xid.number("xid").orElse(0L),
                    xid.text("gpu").orElse(""),
                    xid.text("text").orElse("")))
        .toList();
  }
}
