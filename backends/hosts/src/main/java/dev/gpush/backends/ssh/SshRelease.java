package dev.gpush.backends.ssh;

import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.GangId;
import dev.gpush.core.backend.NodeInfo;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Inquiry.Answer;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/**
 * Gives a gang back: every agent is asked to let go, then everything is looked at until it is
 * really gone, the agents and the locks. What was not ours stays and is named. A host that cannot
 * be asked may still hold something, and that is said.
 */
final class SshRelease {
  /** An agent answers before it exits; its last milliseconds are not worth more commands. */
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(40);

  /** Says whether there are files of a node; where not, sweeps the folder above all gangs too. */
  private static final String HAS_FILES =
      "if test -e \"$1\" || test -e \"$2\"; then echo yes; else rmdir \"$3\" 2>/dev/null; echo no;"
          + " fi";

  private final SshPlace place;
  private final HostAgents agents;
  private final Surveys surveys;
  private final Tasks tasks;

  SshRelease(SshPlace place, HostAgents agents, Surveys surveys, Tasks tasks) {
    this.place = place;
    this.agents = agents;
    this.surveys = surveys;
    this.tasks = tasks;
  }

  /** The kept paths, each with its node. */
  List<String> all(Gang gang, Duration limit) throws InterruptedException {
    try {
      return tasks.within(limit, "release-" + gang.id(), () -> release(gang));
    } catch (IOException | RuntimeException failed) {
      throw notReleased(gang, FailureWords.of(failed), failed);
    } catch (TimeoutException hangs) {
      throw notReleased(gang, "it is still there after " + DurationText.of(limit), hangs);
    }
  }

  private GpushException notReleased(Gang gang, String reason, Throwable cause) {
    return new GpushException(
        new BackendFailure.NotReleased(place.name(), gang.id().text(), reason), cause);
  }

  private List<String> release(Gang gang) throws IOException, InterruptedException {
    List<Work<List<String>, IOException>> each =
        nodes(gang).stream()
            .<Work<List<String>, IOException>>map(node -> () -> release(gang, node))
            .toList();
    var kept = new ArrayList<String>();
    tasks.all("release", each).forEach(kept::addAll);
    return List.copyOf(kept);
  }

  /** Those that the caller knows; after a lost reply it knows none, the agents know themselves. */
  private List<NodeInfo> nodes(Gang gang) throws IOException, InterruptedException {
    if (!gang.nodes().isEmpty()) {
      return gang.nodes();
    }
    List<Work<List<Json>, IOException>> questions =
        place.hosts().stream()
            .<Work<List<Json>, IOException>>map(host -> () -> agents.of(host.machine(), gang.id()))
            .toList();
    return tasks.all("find", questions).stream()
        .flatMap(List::stream)
        .map(HostAgents::info)
        .toList();
  }

  /** The agent names what it keeps from the workspace on; a folder that is all foreign as one. */
  private List<String> release(Gang gang, NodeInfo node) throws IOException, InterruptedException {
    Host host = host(node);
    Optional<Json> answer = ask(host, gang.id(), node, "release");
    while (ask(host, gang.id(), node, "status").isPresent()) {
      Thread.sleep(BETWEEN_LOOKS);
    }
    if (hasFiles(host, node) && answer.isEmpty()) {
      // The agent was killed and could not clean up: another one does it, holding nothing.
      agents.restart(host.machine(), gang, node);
      answer = ask(host, gang.id(), node, "release");
      while (ask(host, gang.id(), node, "status").isPresent()) {
        Thread.sleep(BETWEEN_LOOKS);
      }
      hasFiles(host, node);
    }
    if (node.hasGpus()) {
      awaitLocks(host, gang.id());
    }
    return answer.map(said -> said.texts("kept")).orElse(List.of()).stream()
        .map(path -> "node " + node.index() + ": " + node.workspace() + "/" + path)
        .map(path -> path.replaceFirst("/\\.?$", ""))
        .toList();
  }

  private Host host(NodeInfo node) {
    return place
        .host(node.host())
        .orElseThrow(
            () ->
                new GpushException(
                    new BackendFailure.Unavailable(
                        place.name(),
                        node.host() + " is not among its hosts any more",
                        "add it to hosts again")));
  }

  /** Empty when there is no agent. */
  private Optional<Json> ask(Host host, GangId gang, NodeInfo node, String what)
      throws InterruptedException {
    try {
      Json.Obj question = Json.object("do", what);
      return Optional.of(agents.control(host.machine(), gang, node.index(), question));
    } catch (GpushException failed) {
      if (failed.failure() instanceof AgentFailure.NotThere) {
        return Optional.empty();
      }
      throw failed;
    }
  }

  private boolean hasFiles(Host host, NodeInfo node) throws IOException, InterruptedException {
    List<String> command =
        List.of("sh", "-c", HAS_FILES, "sh", node.workspace(), node.state(), swept(node));
    try {
      Answer answer = new Inquiry(host.machine(), tasks).ask(command, "", ANSWER_LIMIT);
      return !answer.output().startsWith("no");
    } catch (TimeoutException hangs) {
      String reason = host.name() + " has not answered for " + DurationText.of(ANSWER_LIMIT);
      throw new IOException(reason, hangs);
    }
  }

  /** {@code ~/gpush} was made by us; the user's scratch folder was not. */
  private String swept(NodeInfo node) {
    int levels = 3;
    String path = node.workspace();
    for (int level = 0; level < levels && path.contains("/"); level++) {
      path = path.substring(0, path.lastIndexOf('/'));
    }
    return place.scratch().isEmpty() && path.endsWith("/gpush") ? path : "";
  }

  /** A run that outlived its agent may hold a GPU a moment longer. */
  private void awaitLocks(Host host, GangId gang) throws InterruptedException {
    while (surveys.ask(host).slots().stream().anyMatch(slot -> slot.gang().equals(gang.text()))) {
      Thread.sleep(BETWEEN_LOOKS);
    }
  }
}
