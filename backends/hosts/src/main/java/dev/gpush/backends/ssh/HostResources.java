package dev.gpush.backends.ssh;

import dev.gpush.backends.hosts.AgentCalls;
import dev.gpush.backends.hosts.GangRelease;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Inquiry.Answer;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;

/** What nodes on hosts have besides their agents: files there, locks. */
final class HostResources implements GangRelease.Resources {
  static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);

  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(40);

  /** Says whether there are files of a node; where not, sweeps the folder above all gangs too. */
  private static final String HAS_FILES =
      "if test -e \"$1\" || test -e \"$2\"; then echo yes; else rmdir \"$3\" 2>/dev/null; echo no;"
          + " fi";

  private final SshPlace place;
  private final HostAgents agents;
  private final Surveys surveys;
  private final Tasks tasks;

  HostResources(SshPlace place, HostAgents agents, Surveys surveys, Tasks tasks) {
    this.place = place;
    this.agents = agents;
    this.surveys = surveys;
    this.tasks = tasks;
  }

  @Override
  public List<NodeInfo> find(Gang gang) throws IOException, InterruptedException {
    List<Work<List<Json>, IOException>> questions =
        place.hosts().stream()
            .<Work<List<Json>, IOException>>map(host -> () -> agents.of(host.machine(), gang.id()))
            .toList();
    return tasks.all("find", questions).stream()
        .flatMap(List::stream)
        .map(AgentCalls::info)
        .toList();
  }

  @Override
  public void awaitEnd(Gang gang, List<NodeInfo> nodes) throws IOException, InterruptedException {
    List<Work<Boolean, IOException>> each =
        nodes.stream()
            .filter(NodeInfo::hasGpus)
            .<Work<Boolean, IOException>>map(node -> () -> awaitLocks(node, gang.id()))
            .toList();
    tasks.all("locks", each);
  }

  @Override
  public boolean hasFiles(NodeInfo node) throws IOException, InterruptedException {
    Host host = place.hostOf(node);
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

  private boolean awaitLocks(NodeInfo node, GangId gang) throws InterruptedException {
    Host host = place.hostOf(node);
    while (surveys.ask(host).slots().stream().anyMatch(slot -> slot.gang().equals(gang.text()))) {
      Thread.sleep(BETWEEN_LOOKS);
    }
    return true;
  }
}
