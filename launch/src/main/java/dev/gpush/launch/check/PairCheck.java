package dev.gpush.launch.check;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;

/** Connects each node of a session with each other over TCP, all at once. */
final class PairCheck {
  private static final String CALL = "check.pairs";

  /**
   * Nodes that reach each other are done at once; a dropped SYN is sent again after 1, 3 and 7 s.
   */
  private static final int SECONDS = 10;

  /** The agent ends by itself; beyond this the link is slow. */
  private static final Duration LIMIT = Duration.ofSeconds(2 * SECONDS);

  /** A port may be taken between choice and use; twice in a row is no chance. */
  private static final int ATTEMPTS = 3;

  private static final String TAKEN = "EADDRINUSE";

  private final LaunchSite site;
  private final Tasks tasks;

  PairCheck(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /**
   * In the order of the nodes.
   *
   * @param addresses of the nodes
   */
  List<PairReply> replies(List<PairAddress> addresses) throws InterruptedException {
    List<PairReply> replies = attempt(addresses);
    for (int again = 1; again < ATTEMPTS && isTaken(replies); again++) {
      replies = attempt(addresses);
    }
    return replies;
  }

  private static boolean isTaken(List<PairReply> replies) {
    return replies.contains(new PairReply.Deaf(TAKEN));
  }

  private List<PairReply> attempt(List<PairAddress> addresses) throws InterruptedException {
    List<Optional<Integer>> ports = ports();
    String mark = site.id() + "-" + ports.hashCode();
    var asking = new ArrayList<Work<PairReply, RuntimeException>>();
    for (int node = 0; node < ports.size(); node++) {
      int index = node;
      if (ports.get(node).isEmpty()) {
        asking.add(() -> new PairReply.Unasked("no answer in time"));
        continue;
      }
      var peers = new ArrayList<Json>();
      for (int other = 0; other < ports.size(); other++) {
        if (other != node && ports.get(other).isPresent()) {
          peers.add(
              Json.object(
                  "node", other,
                  "address", addresses.get(other).address(),
                  "port", ports.get(other).get()));
        }
      }
      Json.Obj question =
          Json.object(
              "node",
              node,
              "port",
              ports.get(node).get(),
              "from",
              addresses.get(node).own(),
              "mark",
              mark,
              "peers",
              Json.array(peers),
              "seconds",
              SECONDS);
      asking.add(() -> reply(site.nodes().get(index), question));
    }
    return tasks.all("check-pairs", asking);
  }

  private List<Optional<Integer>> ports() throws InterruptedException {
    return tasks.each("check-ports", site.nodes(), this::port);
  }

  private Optional<Integer> port(LaunchNode node) throws InterruptedException {
    try {
      return tasks.within(LIMIT, "check-port", () -> node.calls().freePort());
    } catch (TimeoutException | GpushException _) {
      return Optional.empty();
    }
  }

  private PairReply reply(LaunchNode node, Json.Obj question) throws InterruptedException {
    try {
      return PairReply.read(
          tasks.within(LIMIT, "check-pairs", () -> node.calls().call(CALL, question)));
    } catch (TimeoutException slow) {
      return new PairReply.Unasked("no answer in time");
    } catch (GpushException failed) {
      return new PairReply.Unasked(NodeCalls.why(failed));
    }
  }
}
