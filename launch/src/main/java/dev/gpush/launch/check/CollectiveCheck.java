package dev.gpush.launch.check;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.Resource;
import dev.gpush.launch.fabric.gang.RankFabric;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import dev.gpush.launch.node.PythonFacts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Runs a collective through the user's torch, on all nodes of a session at once. */
final class CollectiveCheck {
  /** Importing torch from a network file system takes a minute; the measurements take seconds. */
  private static final int SECONDS = 120;

  /** Above what collective.py allows itself. */
  private static final Duration LIMIT = Duration.ofSeconds(SECONDS + 20);

  private static final Duration PORT_LIMIT = Duration.ofSeconds(10);

  private static final List<Long> GLOO_SIZES = List.of(64L << 10, 1L << 20, 16L << 20);
  private static final List<Long> NCCL_SIZES = List.of(1L << 20, 32L << 20, 256L << 20);
  private static final long GLOO_PAIR = 4L << 20;
  private static final long NCCL_PAIR = 64L << 20;

  /**
   * Reads scripts of the provider, then sets again what goes over them, as for a rank. Arguments
   * are names, never values: all users of the node can see those.
   */
  private static final String SOURCE =
      """
      gpush_scripts=("${@:2:$1}"); shift $(($1 + 1))
      gpush_names=("${@:2:$1}"); shift $(($1 + 1))
      gpush_words=("$@")
      for gpush_name in "${gpush_names[@]}"; do gpush_values+=("${!gpush_name}"); done
      for gpush_script in "${gpush_scripts[@]}"; do . "$gpush_script" >/dev/null; done
      for gpush_at in "${!gpush_names[@]}"; do
        export "${gpush_names[gpush_at]}=${gpush_values[gpush_at]}"
      done
      exec "${gpush_words[@]}"
      """;

  /** What a shell can set; nothing else can be lost in a script. */
  private static final Predicate<String> SHELL_NAME =
      Pattern.compile("[A-Za-z_][A-Za-z0-9_]*").asMatchPredicate();

  private final LaunchSite site;
  private final Tasks tasks;
  private final String program = Resource.text(CollectiveCheck.class, "collective.py");

  CollectiveCheck(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /**
   * What runs.
   *
   * @param master the address of node 0
   * @param ranks of each node
   * @param usesGpus over NCCL; else over gloo
   * @param environment what the user set
   */
  record Order(
      String master,
      List<Integer> ranks,
      boolean usesGpus,
      List<PythonFacts> pythons,
      RankFabric fabric,
      Map<String, String> environment) {
    Order {
      ranks = List.copyOf(ranks);
      pythons = List.copyOf(pythons);
      environment = Map.copyOf(environment);
    }
  }

  /** In the order of the nodes. */
  List<CollectiveReply> replies(Order order) throws InterruptedException {
    Optional<Integer> port = port();
    if (port.isEmpty()) {
      return site.nodes().stream()
          .<CollectiveReply>map(_ -> new CollectiveReply.Broken("node 0 has no free port"))
          .toList();
    }
    return tasks.each(
        "check-collective",
        IntStream.range(0, site.nodes().size()).boxed().toList(),
        node ->
            reply(
                site.nodes().get(node), words(order, node), environment(order, node, port.get())));
  }

  private Optional<Integer> port() throws InterruptedException {
    try {
      return tasks.within(
          PORT_LIMIT, "check-port", () -> site.nodes().getFirst().calls().freePort());
    } catch (TimeoutException | GpushException _) {
      return Optional.empty();
    }
  }

  List<String> words(Order order, int node) {
    Json.Obj part =
        Json.object(
            "node",
            node,
            "procs",
            order.ranks(),
            "backend",
            order.usesGpus() ? "nccl" : "gloo",
            "sizes",
            order.usesGpus() ? NCCL_SIZES : GLOO_SIZES,
            "pair_bytes",
            order.usesGpus() ? NCCL_PAIR : GLOO_PAIR,
            "rounds",
            PairRounds.of(order.ranks().size()),
            "seconds",
            SECONDS);
    var words =
        new ArrayList<>(
            List.of(order.pythons().get(node).executable(), "-c", program, part.write()));
    List<String> scripts = order.fabric().scripts(node);
    if (!scripts.isEmpty()) {
      var sourced = new ArrayList<>(List.of("/bin/bash", "-c", SOURCE, "sh", "" + scripts.size()));
      sourced.addAll(scripts);
      Set<String> set = variables(order, node).keySet();
      List<String> kept =
          order.fabric().kept(node, order.environment().keySet()).stream()
              .filter(set::contains)
              .filter(SHELL_NAME)
              .toList();
      sourced.add("" + kept.size());
      sourced.addAll(kept);
      words.addAll(0, sourced);
    }
    return words;
  }

  /** What gpush gives to ranks, under what the user set. */
  private Map<String, String> variables(Order order, int node) {
    var variables = new TreeMap<>(order.fabric().variables(node));
    if (site.onThisMachine()) {
      variables.put("GLOO_SOCKET_IFNAME", "lo");
      variables.put("NCCL_SOCKET_IFNAME", "lo");
    }
    variables.putAll(order.environment());
    return variables;
  }

  Map<String, String> environment(Order order, int node, int port) {
    Map<String, String> variables = variables(order, node);
    variables.putAll(order.pythons().get(node).activation());
    variables.put("MASTER_ADDR", order.master());
    variables.put("MASTER_PORT", "" + port);
    if (order.usesGpus()) {
      variables.put(
          "CUDA_VISIBLE_DEVICES", String.join(",", site.nodes().get(node).info().slots()));
    }
    return variables;
  }

  private static CollectiveReply reply(
      LaunchNode node, List<String> words, Map<String, String> environment)
      throws InterruptedException {
    try {
      return CollectiveReply.read(node.calls().ask(words, environment, LIMIT).output());
    } catch (GpushException failed) {
      return new CollectiveReply.Broken(NodeCalls.why(failed));
    }
  }
}
