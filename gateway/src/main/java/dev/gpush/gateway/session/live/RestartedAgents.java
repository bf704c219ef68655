package dev.gpush.gateway.session.live;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which nodes have another agent than before, and why. What ran there is gone; where the disk has
 * nothing of ours any more, files are too until somebody sends them again.
 */
public final class RestartedAgents {
  // guarded by this
  private final TreeMap<Integer, String> agents = new TreeMap<>();
  private final TreeMap<Integer, Anew> anew = new TreeMap<>();

  /**
   * One that began anew.
   *
   * @param why in the place's words; empty where nobody knows
   */
  private record Anew(boolean isBare, String why) {
    String words() {
      String because = why.isEmpty() ? "" : ": " + why;
      return isBare
          ? "restarted with an empty disk (gpush sync sends the code again)" + because
          : "restarted" + because;
    }
  }

  /**
   * What the agent of a node says when its link comes up.
   *
   * @return whether it is another one than before
   */
  public synchronized boolean welcomed(int node, Json welcome) {
    String agent = welcome.text("agent").orElse("");
    String before = agents.getOrDefault(node, agent);
    agents.put(node, agent);
    boolean isOther = !before.equals(agent);
    if (isOther) {
      boolean wasBare = has(node);
      anew.put(node, new Anew(wasBare || welcome.flag("bare"), ""));
    }
    return isOther;
  }

  /** Found out a moment later. */
  public synchronized void because(int node, String why) {
    anew.computeIfPresent(node, (_, each) -> new Anew(each.isBare(), why));
  }

  /** Whether the files of a node are gone. */
  synchronized boolean has(int node) {
    return anew.containsKey(node) && anew.get(node).isBare();
  }

  synchronized boolean hasBare() {
    return anew.values().stream().anyMatch(Anew::isBare);
  }

  /** A sentence for each, without the end. */
  public synchronized List<String> words() {
    return anew.entrySet().stream()
        .map(
            (Map.Entry<Integer, Anew> each) ->
                "node " + each.getKey() + " " + each.getValue().words())
        .toList();
  }

  /** All nodes have all files again, and whoever sent them has seen the rest. */
  synchronized void forget() {
    anew.clear();
  }
}
