package dev.gpush.gateway.session.live;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The nodes whose agent was replaced, and why. Commands of the former agent are gone, but for runs
 * where only the agent was killed; if the disk is empty, the files are missing until the next sync.
 */
public final class RestartedAgents {
  // guarded by this
  private final TreeMap<Integer, String> agents = new TreeMap<>();
  private final TreeMap<Integer, Anew> anew = new TreeMap<>();

  /**
   * A replaced agent.
   *
   * @param why in the backend's words; empty when it is not known
   */
  private record Anew(Loss loss, String why) {
    String words() {
      String because = why.isEmpty() ? "" : ": " + why;
      return switch (loss) {
        case TERMINALS -> "lost its terminals because its agent was killed; another agent goes on";
        case PROCESSES -> "restarted" + because;
        case FILES -> "restarted with an empty disk (gpush sync sends the code again)" + because;
      };
    }
  }

  /** What went with the agent, each with all before it. */
  private enum Loss {
    TERMINALS,
    PROCESSES,
    FILES;

    static Loss of(Json welcome) {
      if (welcome.flag("bare")) {
        return FILES;
      }
      return welcome.flag("again") ? TERMINALS : PROCESSES;
    }

    Loss or(Loss other) {
      return compareTo(other) > 0 ? this : other;
    }
  }

  /**
   * Takes the WELCOME of a node's agent.
   *
   * @return whether the agent is another one than before
   */
  public synchronized boolean welcomed(int node, Json welcome) {
    String agent = welcome.text("agent").orElse("");
    String before = agents.getOrDefault(node, agent);
    agents.put(node, agent);
    boolean isOther = !before.equals(agent);
    if (isOther) {
      Loss now = Loss.of(welcome);
      anew.merge(node, new Anew(now, ""), (was, _) -> new Anew(now.or(was.loss()), ""));
    }
    return isOther;
  }

  /** Adds the reason, which is found out later. */
  public synchronized void because(int node, String why) {
    anew.computeIfPresent(node, (_, each) -> new Anew(each.loss(), why));
  }

  /** Whether the files of a node are gone. */
  synchronized boolean has(int node) {
    return anew.containsKey(node) && anew.get(node).loss() == Loss.FILES;
  }

  synchronized boolean hasBare() {
    return anew.values().stream().anyMatch(each -> each.loss() == Loss.FILES);
  }

  /** A sentence for each, without the end. */
  public synchronized List<String> words() {
    return anew.entrySet().stream()
        .map(
            (Map.Entry<Integer, Anew> each) ->
                "node " + each.getKey() + " " + each.getValue().words())
        .toList();
  }

  /** All nodes have all files again, and the user has seen the rest. */
  synchronized void forget() {
    anew.clear();
  }
}
