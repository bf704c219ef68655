package dev.gpush.gateway.session.live;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Which nodes have another agent than before, and why. What ran there is gone; where the disk has
 * nothing of ours any more, files are too until somebody sends them again.
 */
public final class RestartedAgents {
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
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
          ? "began anew on an empty disk (gpush sync sends the code again)" + because
          : "began anew" + because;
    }
  }

  /**
   * What the agent of a node says when its link comes up.
   *
   * @return whether it is another one than before
   */
  public boolean welcomed(int node, Json welcome) {
    lock.lock();
    try {
      String agent = welcome.text("agent").orElse("");
      String before = agents.getOrDefault(node, agent);
      agents.put(node, agent);
      boolean isOther = !before.equals(agent);
      if (isOther) {
        boolean wasBare = has(node);
        anew.put(node, new Anew(wasBare || welcome.flag("bare"), ""));
      }
      return isOther;
    } finally {
      lock.unlock();
    }
  }

  /** Found out a moment later. */
  public void because(int node, String why) {
    lock.lock();
    try {
      anew.computeIfPresent(node, (_, each) -> new Anew(each.isBare(), why));
    } finally {
      lock.unlock();
    }
  }

  /** Whether the files of a node are gone. */
  boolean has(int node) {
    lock.lock();
    try {
      return anew.containsKey(node) && anew.get(node).isBare();
    } finally {
      lock.unlock();
    }
  }

  boolean hasBare() {
    lock.lock();
    try {
      return anew.values().stream().anyMatch(Anew::isBare);
    } finally {
      lock.unlock();
    }
  }

  /** A sentence for each, without the end. */
  public List<String> words() {
    lock.lock();
    try {
      return anew.entrySet().stream()
          .map(
              (Map.Entry<Integer, Anew> each) ->
                  "node " + each.getKey() + " " + each.getValue().words())
          .toList();
    } finally {
      lock.unlock();
    }
  }

  /** All nodes have all files again, and whoever sent them has seen the rest. */
  void forget() {
    lock.lock();
    try {
      anew.clear();
    } finally {
      lock.unlock();
    }
  }
}
