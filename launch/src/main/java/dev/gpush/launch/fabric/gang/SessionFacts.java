package dev.gpush.launch.fabric.gang;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/**
 * The facts of a session's nodes, asked of all at once and kept, so that a run does not wait for
 * them. Thread-safe.
 */
public final class SessionFacts {
  private static final String CALL = "fabric.facts";

  /** A node with GPUs whose driver has to be loaded first takes about two seconds. */
  private static final Duration LIMIT = Duration.ofSeconds(5);

  /** Cables and drivers fail; that is noticed at the run after this time. */
  private static final Duration FRESH = Duration.ofMinutes(5);

  /** A node that was slow once costs a run its {@link #LIMIT} this often at most. */
  private static final Duration RETRY = Duration.ofMinutes(1);

  /** Numbers: the agent asks no name server. */
  private static final Pattern ADDRESS = Pattern.compile("[0-9.]+|[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");

  private final LaunchSite site;
  private final Clock clock;
  private final Tasks tasks;

  // guarded by this
  private Optional<Gathered> kept = Optional.empty();
  private Optional<Task<Gathered, RuntimeException>> asking = Optional.empty();

  /**
   * @param machines what the nodes were when they were asked
   * @param replies in the order of the nodes
   */
  private record Gathered(List<NodeInfo> machines, List<NodeReply> replies, long atNanos) {
    boolean isComplete() {
      return replies.stream().allMatch(NodeReply.Known.class::isInstance);
    }

    /** What this one still knows of machines that are the same and silent now. */
    Gathered filledFrom(Gathered older) {
      var filled = new ArrayList<NodeReply>(replies);
      for (int i = 0; i < filled.size() && i < older.replies.size(); i++) {
        if (filled.get(i) instanceof NodeReply.Silent
            && older.replies.get(i) instanceof NodeReply.Known
            && older.machines.get(i).equals(machines.get(i))) {
          filled.set(i, older.replies.get(i));
        }
      }
      return new Gathered(machines, filled, atNanos);
    }
  }

  public SessionFacts(LaunchSite site, Clock clock, Tasks tasks) {
    this.site = site;
    this.clock = clock;
    this.tasks = tasks;
  }

  /** Asks in the background, unless what is kept still counts or the nodes are being asked. */
  public synchronized void refresh() {
    if (!isCurrent()) {
      ask();
    }
  }

  /** The replies are asked again, although those that are kept may still count. */
  public synchronized void forget() {
    kept = Optional.empty();
    asking = Optional.empty();
  }

  /**
   * In the order of the nodes. Nodes that are all this machine have said the same. Waits only where
   * nothing that counts is kept, and for no node longer than a few seconds.
   */
  List<NodeReply> replies() throws InterruptedException {
    Task<Gathered, RuntimeException> task;
    synchronized (this) {
      if (isCurrent()) {
        return kept.orElseThrow().replies();
      }
      task = ask();
    }
    Gathered gathered = task.get();
    synchronized (this) {
      keep(task, gathered);
      return gathered.replies();
    }
  }

  private Task<Gathered, RuntimeException> ask() {
    Optional<Task<Gathered, RuntimeException>> present = asking;
    if (present.isPresent()) {
      return present.get();
    }
    Optional<Gathered> before = kept;
    Task<Gathered, RuntimeException> task =
        tasks.fork(
            "facts",
            () -> {
              Gathered gathered = gather();
              return before.map(gathered::filledFrom).orElse(gathered);
            });
    asking = Optional.of(task);
    return task;
  }

  /** Ignores answers that were requested before {@link #forget}. */
  private void keep(Task<Gathered, RuntimeException> task, Gathered gathered) {
    if (asking.equals(Optional.of(task))) {
      kept = Optional.of(gathered);
      asking = Optional.empty();
    }
  }

  /** Takes what was asked in the background, if that is done. */
  private boolean isCurrent() {
    asking.filter(Task::isDone).ifPresent(this::take);
    return kept.isPresent() && isCurrent(kept.get());
  }

  private boolean isCurrent(Gathered gathered) {
    Duration lasts = gathered.isComplete() ? FRESH : RETRY;
    return clock.nanos() - gathered.atNanos() < lasts.toNanos()
        && gathered.machines().equals(site.infos());
  }

  private void take(Task<Gathered, RuntimeException> done) {
    asking = Optional.empty();
    try {
      kept = Optional.of(done.get());
    } catch (InterruptedException closed) {
      Thread.currentThread().interrupt();
    }
  }

  private Gathered gather() throws InterruptedException {
    List<NodeInfo> machines = site.infos();
    if (site.onThisMachine()) {
      NodeReply one = reply(site.nodes().getFirst(), List.of());
      return new Gathered(machines, machines.stream().map(_ -> one).toList(), clock.nanos());
    }
    List<Optional<String>> addresses = machines.stream().map(SessionFacts::address).toList();
    List<NodeReply> replies = replies(addresses);
    if (addresses.stream().anyMatch(Optional::isEmpty)) {
      // A node that is known by a name only says its address itself; then routes can be asked for.
      List<NodeReply> first = replies;
      replies =
          replies(
              IntStream.range(0, addresses.size())
                  .mapToObj(i -> addresses.get(i).or(() -> ownAddress(first.get(i))))
                  .toList());
    }
    return new Gathered(machines, replies, clock.nanos());
  }

  private List<NodeReply> replies(List<Optional<String>> addresses) throws InterruptedException {
    List<Integer> nodes = IntStream.range(0, addresses.size()).boxed().toList();
    return tasks.each(
        "facts",
        nodes,
        node ->
            reply(
                site.nodes().get(node),
                nodes.stream()
                    .filter(other -> !other.equals(node))
                    .map(addresses::get)
                    .flatMap(Optional::stream)
                    .distinct()
                    .toList()));
  }

  private NodeReply reply(LaunchNode node, List<String> peers) throws InterruptedException {
    try {
      Json.Obj question = Json.object("peers", peers);
      return new NodeReply.Known(
          tasks.within(LIMIT, "facts", () -> node.calls().call(CALL, question)));
    } catch (TimeoutException slow) {
      return new NodeReply.Silent("no answer about the network in time");
    } catch (GpushException failed) {
      return new NodeReply.Silent(
          failed.failure() instanceof AgentFailure.Refused(_, var code, _)
              ? "the network could not be read (" + code + ")"
              : "the agent cannot be asked about the network now");
    }
  }

  private static Optional<String> address(NodeInfo node) {
    return Optional.of(node.address()).filter(text -> ADDRESS.matcher(text).matches());
  }

  /** The first address of the interface of the default route. */
  private static Optional<String> ownAddress(NodeReply reply) {
    if (!(reply instanceof NodeReply.Known(var facts))) {
      return Optional.empty();
    }
    String name = facts.text("default_route").orElse("");
    return facts.items("interfaces").stream()
        .filter(each -> each.text("name").equals(Optional.of(name)))
        .flatMap(each -> each.texts("addresses").stream())
        .map(text -> text.replaceFirst("/.*$", ""))
        .findFirst();
  }
}
