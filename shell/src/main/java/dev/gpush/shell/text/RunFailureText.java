package dev.gpush.shell.text;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunReason;
import dev.gpush.core.run.RunReason.Xid;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.Phrase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Who failed first in a run, in one line: {@code rank 2 (gpu2, GPU 0) failed first:
 * ModuleNotFoundError: No module named 'boto3' (trainer.py:16); ranks 0, 1, 3 the same}. Further
 * lines say what is left of it on its nodes.
 */
public final class RunFailureText {
  private static final Map<Integer, String> SIGNALS =
      Map.ofEntries(
          Map.entry(1, "SIGHUP"),
          Map.entry(2, "SIGINT"),
          Map.entry(3, "SIGQUIT"),
          Map.entry(4, "SIGILL (illegal instruction)"),
          Map.entry(6, "SIGABRT"),
          Map.entry(7, "SIGBUS (bus error)"),
          Map.entry(8, "SIGFPE"),
          Map.entry(9, "SIGKILL"),
          Map.entry(11, "SIGSEGV (segmentation fault)"),
          Map.entry(13, "SIGPIPE"),
          Map.entry(14, "SIGALRM"),
          Map.entry(15, "SIGTERM"));

  /** Whose fault they mostly are, by NVIDIA's list; those whose own text says it are not here. */
  private static final Map<Long, String> XIDS =
      Map.of(
          13L, "mostly the program's error",
          31L, "mostly the program's error",
          43L, "mostly the program's error",
          48L, "the GPU's memory",
          63L, "the GPU's memory",
          64L, "the GPU's memory",
          74L, "NVLink",
          94L, "the GPU's memory",
          95L, "the GPU's memory",
          119L, "the GPU's own processor");

  private final RunFailure failure;

  public RunFailureText(RunFailure failure) {
    this.failure = failure;
  }

  /** The verdict, and what is left, as lines for standard error. */
  public byte[] bytes(Look look) {
    var lines = new ArrayList<>(look.failed(line()));
    left().forEach(line -> lines.addAll(Prose.lines("  ", Clean.line(line), look.errorColumns())));
    return (String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8);
  }

  /** The verdict. */
  public String line() {
    if (failure.reason() instanceof RunReason.NodeLost(var loss)) {
      return switch (loss) {
        case NODE ->
            "node " + failure.where().node() + " (" + host() + ") was lost, and the run with it";
        case SUPERVISOR ->
            "the run's supervisor on " + place() + " was killed, and its ranks with it";
        case START ->
            "the run did not start on " + place() + ": the gateway ended before it got there";
      };
    }
    return who()
        + " failed first: "
        + brief()
        + failure.frame().map(at -> " (" + at.file() + ":" + at.line() + ")").orElse("")
        + same();
  }

  private String who() {
    int rank = failure.shownRank();
    if (failure.isOfMpi()) {
      return rank < 0 ? "mpirun (" + place() + ")" : "rank " + rank + " of MPI";
    }
    String gpu = failure.where().gpu().map(id -> ", GPU " + id).orElse("");
    return (rank < 0 ? "the launcher" : "rank " + rank) + " (" + place() + gpu + ")";
  }

  private String host() {
    return failure.where().host();
  }

  /** A host that is several nodes needs their number, too. */
  private String place() {
    return failure.where().isAlone() && !host().isEmpty()
        ? host()
        : "node " + failure.where().node() + (host().isEmpty() ? "" : " on " + host());
  }

  private String same() {
    if (failure.same().isEmpty()) {
      return "";
    }
    return (failure.same().size() == 1 ? "; rank " : "; ranks ")
        + Phrase.ranges(failure.same())
        + " the same";
  }

  /** The reason alone, for a column. */
  public String brief() {
    return switch (failure.reason()) {
      case RunReason.Raised(var type, var message) -> exception(type, message);
      case RunReason.GpuError(var type, var message, var xids) ->
          exception(type, message) + xids(xids);
      case RunReason.OutOfMemory(var scope, var limit, var process) ->
          "out of memory: "
              + process.map(name -> "the kernel killed " + name).orElse("the kernel killed it")
              + switch (scope) {
                case CGROUP ->
                    limit.map(bytes -> " at the limit of " + Phrase.size(bytes)).orElse("")
                        + " of its cgroup";
                case MACHINE -> " because the machine had none left";
                case UNKNOWN -> "";
              };
      case RunReason.SharedMemoryFull(var size) ->
          "bus error: /dev/shm is full" + size.map(b -> " (" + Phrase.size(b) + ")").orElse("");
      case RunReason.DiskFull(var path, boolean isQuota, var message) ->
          (isQuota ? "the disk quota is used up" : "no space left")
              + path.map(folder -> " in " + folder).orElse(": " + message);
      case RunReason.CollectiveTimeout(var by, var operation, var millis) ->
          (by.equals("nccl") ? "NCCL" : by)
              + " timeout: "
              + operation.orElse("a collective")
              + " waited "
              + millis.map(RunFailureText::time).map(time -> time + " ").orElse("")
              + "for another rank";
      case RunReason.PeerGone(var type, var message) ->
          "lost its connection to another rank: " + exception(type, message);
      case RunReason.Rendezvous(var joined, var expected, var address, var millis) ->
          "the ranks did not meet"
              + millis.map(RunFailureText::time).map(time -> " within " + time).orElse("")
              + joined
                  .map(count -> ": " + count + " of " + expected.orElse(0L) + " came")
                  .or(() -> address.map(where -> ": no answer from " + where))
                  .orElse("");
      case RunReason.Signalled(int signal, var message, var xids) ->
          "ended by "
              + SIGNALS.getOrDefault(signal, "signal " + signal)
              + (message.isEmpty() ? "" : ": " + message)
              + xids(xids);
      case RunReason.Exited(int status) -> "exit status " + status;
      case RunReason.NodeLost _ -> "node lost";
      case RunReason.Other(var code) -> code;
    };
  }

  private static String exception(String type, String message) {
    String name = type.substring(type.lastIndexOf('.') + 1);
    return message.isEmpty() ? name : name + ": " + message;
  }

  private static String xids(List<Xid> xids) {
    return xids.stream()
        .map(
            xid ->
                "; Xid "
                    + xid.number()
                    + " of GPU "
                    + xid.gpu()
                    + Optional.ofNullable(XIDS.get(xid.number()))
                        .map(meaning -> " (" + meaning + ")")
                        .orElse("")
                    + (xid.text().isEmpty() ? "" : ": " + xid.text()))
        .collect(Collectors.joining());
  }

  private static String time(long millis) {
    return millis < 1000 ? millis + " ms" : DurationText.of(Duration.ofMillis(millis));
  }

  /** What is left on each node, which a person may have to end or remove. */
  private List<String> left() {
    var lines = new ArrayList<String>();
    for (Json node : failure.left()) {
      String on = "left on " + node.text("host").orElse("node " + node.number("node").orElse(0L));
      for (Json process : node.items("processes")) {
        lines.add(on + ": " + process(process) + ", which SIGKILL does not end");
      }
      node.get("port")
          .ifPresent(
              port ->
                  lines.add(
                      on
                          + ": port "
                          + port.number("port").orElse(0L)
                          + port.number("pid").map(_ -> ", held by " + process(port)).orElse("")));
      for (Json gpu : node.items("gpus")) {
        lines.add(
            on
                + ": "
                + gpu.number("mb").map(mb -> mb + " MB of ").orElse("")
                + "GPU "
                + gpu.text("gpu").orElse("?")
                + ", held by "
                + process(gpu));
      }
      long files = node.object("shm").number("files").orElse(0L);
      if (files > 0) {
        long bytes = node.object("shm").number("bytes").orElse(0L);
        String many = Phrase.counted(files, "file");
        lines.add(on + ": " + many + " in /dev/shm, " + Phrase.size(bytes) + ", used by nobody");
      }
    }
    return Phrase.capped(lines);
  }

  private static String process(Json process) {
    Optional<String> user = process.text("user");
    return process.text("name").orElse("a process")
        + " (pid "
        + process.number("pid").orElse(0L)
        + user.map(name -> " of " + name).orElse("")
        + ")";
  }
}
