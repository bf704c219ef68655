package dev.gpush.backends.hosts;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
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
 * Gives a gang back: every agent is asked to let go, then everything is checked until it is really
 * gone, the agents and the locks. What gpush did not write stays and is named. A host that cannot
 * be asked may still hold something, and that is reported.
 */
public final class GangRelease {
  private final String backend;
  private final NodeAgents agents;
  private final Duration betweenLooks;
  private final Resources resources;
  private final Tasks tasks;

  /**
   * For the gangs of one backend.
   *
   * @param betweenLooks an agent answers before it exits; its last milliseconds are not worth more
   *     questions than this allows
   */
  public GangRelease(
      String backend, NodeAgents agents, Duration betweenLooks, Resources resources, Tasks tasks) {
    this.backend = backend;
    this.agents = agents;
    this.betweenLooks = betweenLooks;
    this.resources = resources;
    this.tasks = tasks;
  }

  /** What nodes have besides their agents. */
  public interface Resources {
    /** The nodes of a gang whose caller knows none, after a lost reply: their agents know. */
    List<NodeInfo> find(Gang gang) throws IOException, InterruptedException;

    /** Whether files of a node are there; where not, removes the empty folders above them. */
    boolean hasFiles(NodeInfo node) throws IOException, InterruptedException;

    /**
     * Called once all agents are gone: waits for the locks, because a run that outlived its agent
     * may hold a GPU a moment longer, and removes the empty folders of the gang.
     */
    void awaitEnd(Gang gang, List<NodeInfo> nodes) throws IOException, InterruptedException;

    /** Why something may still be there. */
    default String reason(Throwable failed) {
      return FailureWords.of(failed);
    }
  }

  /** The kept paths, each with its node. */
  public List<String> all(Gang gang, Duration limit) throws InterruptedException {
    try {
      return tasks.within(limit, "release-" + gang.id(), () -> release(gang));
    } catch (IOException | RuntimeException failed) {
      throw notReleased(gang, resources.reason(failed), failed);
    } catch (TimeoutException hangs) {
      throw notReleased(gang, "it is still there after " + DurationText.of(limit), hangs);
    }
  }

  /**
   * Of what a reservation has started that failed or was interrupted. The caller hears of the first
   * failure, not of what happens here: agents that stay end by themselves, because nobody claims
   * them.
   */
  public void rollBack(Gang gang, Duration limit) {
    boolean interrupted = Thread.interrupted();
    try {
      all(gang, limit);
    } catch (GpushException stillThere) {
      // Told by discover as an incomplete gang.
    } catch (InterruptedException again) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private GpushException notReleased(Gang gang, String reason, Throwable cause) {
    return new GpushException(
        new BackendFailure.NotReleased(backend, gang.id().text(), reason), cause);
  }

  private List<String> release(Gang gang) throws IOException, InterruptedException {
    List<NodeInfo> nodes = gang.nodes().isEmpty() ? resources.find(gang) : gang.nodes();
    List<Work<List<String>, IOException>> each =
        nodes.stream()
            .<Work<List<String>, IOException>>map(node -> () -> release(gang, node))
            .toList();
    var kept = new ArrayList<String>();
    tasks.all("release", each).forEach(kept::addAll);
    resources.awaitEnd(gang, nodes);
    return List.copyOf(kept);
  }

  /** The agent names what it keeps from the workspace on; a folder that is all foreign as one. */
  private List<String> release(Gang gang, NodeInfo node) throws IOException, InterruptedException {
    Optional<Json> answer = ask(gang.id(), node, "release");
    awaitNoAgent(gang, node);
    if (resources.hasFiles(node) && answer.isEmpty()) {
      // The agent was killed and could not clean up: another one does it, holding nothing.
      agents.restart(gang, node);
      answer = ask(gang.id(), node, "release");
      awaitNoAgent(gang, node);
      resources.hasFiles(node);
    }
    return answer.map(said -> said.texts("kept")).orElse(List.of()).stream()
        .map(path -> "node " + node.index() + ": " + node.workspace() + "/" + path)
        .map(path -> path.replaceFirst("/\\.?$", ""))
        .toList();
  }

  private void awaitNoAgent(Gang gang, NodeInfo node) throws InterruptedException {
    while (ask(gang.id(), node, "status").isPresent()) {
      Thread.sleep(betweenLooks);
    }
  }

  /** Empty when there is no agent. */
  private Optional<Json> ask(GangId gang, NodeInfo node, String what) throws InterruptedException {
    try {
      return Optional.of(agents.control(gang, node, Json.object("do", what)));
    } catch (GpushException failed) {
      if (failed.failure() instanceof AgentFailure.NotThere) {
        return Optional.empty();
      }
      throw failed;
    }
  }
}
