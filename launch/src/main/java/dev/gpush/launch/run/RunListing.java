package dev.gpush.launch.run;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/** The runs that the nodes of a session report, the newest first; nothing of a lost node. */
public record RunListing(LaunchSite site, Tasks tasks) {
  /** More than the runs of a node fill: a node that answers nonsense must not be asked for ever. */
  private static final int PAGES = 100;

  private static final String METHOD = "run.list";

  /** Those in progress, of each of these nodes. */
  public List<List<Json>> alive(Set<Integer> nodes) throws InterruptedException {
    return list(Json.object("alive", true), node -> nodes.contains(node.info().index()));
  }

  /** All that there are, of each of these nodes. */
  public List<List<Json>> all(Set<Integer> nodes) throws InterruptedException {
    return list(Json.object(), node -> nodes.contains(node.info().index()));
  }

  /** Node → slot → run, as the nodes report it; may be changed. */
  public Map<Integer, Map<String, Integer>> busy() throws InterruptedException {
    var busy = new TreeMap<Integer, Map<String, Integer>>();
    List<List<Json>> listed = list(Json.object("alive", true), _ -> true);
    for (int node = 0; node < listed.size(); node++) {
      var claimed = new TreeMap<String, Integer>();
      for (Json run : listed.get(node)) {
        if (run.flag("alive") && run.get("exit").isEmpty()) {
          int number = run.integer("run").orElse(0);
          run.object("spec").texts("slots").forEach(slot -> claimed.put(slot, number));
        }
      }
      busy.put(site.nodes().get(node).info().index(), claimed);
    }
    return busy;
  }

  /** Whether a node could not list its runs now; it may at the next look. */
  public static boolean isSilent(GpushException failed) {
    return failed.failure() instanceof AgentFailure.Refused(var what, _, _)
        && what.equals(METHOD)
        && NodeCalls.mayPass(failed);
  }

  private List<List<Json>> list(Json.Obj which, Predicate<LaunchNode> asked)
      throws InterruptedException {
    return tasks.each(
        "list",
        site.nodes(),
        node -> asked.test(node) && !node.calls().isLost() ? list(node.calls(), which) : List.of());
  }

  /** A call that was under way when a node's agent was replaced fails; the next one finds it. */
  private static List<Json> page(NodeCalls node, Json.Obj which) throws InterruptedException {
    try {
      return node.call(METHOD, which).items();
    } catch (GpushException failed) {
      if (!(failed.failure() instanceof AgentFailure.LinkOver)) {
        throw failed;
      }
      return node.call(METHOD, which).items();
    }
  }

  /** All answers together: one holds as many runs as fit. */
  private static List<Json> list(NodeCalls node, Json.Obj which) throws InterruptedException {
    var all = new ArrayList<Json>();
    List<Json> page = page(node, which);
    for (int pages = 1; !page.isEmpty() && pages <= PAGES; pages++) {
      all.addAll(page);
      Optional<Integer> oldest = page.getLast().integer("run");
      if (oldest.isEmpty()) {
        break;
      }
      page = page(node, which.with("before", oldest.get()));
    }
    return all;
  }
}
