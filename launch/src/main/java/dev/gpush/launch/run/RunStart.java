package dev.gpush.launch.run;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeoutException;

/**
 * Starts a run on all its nodes at once, or on none: when one refuses, those that started are ended
 * and awaited before the refusal is reported.
 */
public final class RunStart {
  private static final String SNAPSHOT = "snapshot";

  /** How many free ports may be taken before they can be bound; this often is no coincidence. */
  private static final int PORTS = 3;

  /** A node that does not know its environment yet captures it from a login shell. */
  private static final Duration STARTING = Duration.ofSeconds(20);

  /** A run that is killed just after its start ends at once. */
  private static final Duration ENDING = Duration.ofSeconds(15);

  private static final Duration PAUSE = Duration.ofMillis(50);

  /** A node that could not be asked to end its ranks is asked again after this. */
  private static final Duration AGAIN = Duration.ofSeconds(1);

  private final List<NodeCalls> nodes;
  private final RunRecord record;
  private final int run;
  private final Specs specs;
  private final Clock clock;
  private final Tasks tasks;
  private final Duration ending;

  /** Makes the spec of each node, once the port is known. */
  public interface Specs {
    List<Json.Obj> with(int port);
  }

  /** Called when a start has failed and could not end what it had started. */
  public interface Left {
    /** On these of its nodes ranks may go on: a link is cut, or it is not known if they started. */
    void on(List<Integer> nodes) throws InterruptedException;
  }

  /** The number is in use on a node: another gateway gave it to another run. */
  public static final class NumberTaken extends RuntimeException {
    NumberTaken(Throwable cause) {
      super(cause);
    }
  }

  /**
   * @param nodes of the run, in the order of their specs
   */
  public RunStart(List<NodeCalls> nodes, RunRecord record, Specs specs, Clock clock, Tasks tasks) {
    this(nodes, record, specs, clock, tasks, ENDING);
  }

  /**
   * @param ending how long a node may take to end what it has started
   */
  RunStart(
      List<NodeCalls> nodes,
      RunRecord record,
      Specs specs,
      Clock clock,
      Tasks tasks,
      Duration ending) {
    this.nodes = List.copyOf(nodes);
    this.record = record;
    this.run = record.number();
    this.specs = specs;
    this.clock = clock;
    this.tasks = tasks;
    this.ending = ending;
  }

  /**
   * Starts it everywhere, or nowhere; ranks that cannot be ended now are killed later.
   *
   * @param again a run with this number has ended
   * @return when each node had started, in milliseconds after the first
   * @throws GpushException the first refusal of the agent, unchanged ({@link AgentFailure.Refused})
   */
  public List<Long> start(boolean again) throws InterruptedException {
    Left left =
        nodesLeft ->
            nodesLeft.forEach(
                node ->
                    tasks.start("kill-" + node, () -> killIfReachable(nodes.get(node), record)));
    return start(again, () -> {}, left);
  }

  /**
   * The same, but what it could not end is left to the caller.
   *
   * @param last belongs to the start: if it is interrupted, nothing runs
   */
  public List<Long> start(boolean again, Tasks.Action last, Left left) throws InterruptedException {
    GpushException taken = new GpushException(new LaunchFailure.Refused(0, "port-taken", ""));
    boolean replace = again;
    for (int attempt = 0; attempt < PORTS; attempt++) {
      var running = new ConcurrentSkipListSet<Integer>();
      try {
        return startOnce(specs.with(freePort()), replace, last, running, left);
      } catch (GpushException failed) {
        if (!isRefused(failed, "port-taken") || !running.isEmpty()) {
          throw failed;
        }
        taken = failed;
        replace = true;
      }
    }
    throw taken;
  }

  private int freePort() throws InterruptedException {
    return nodes
        .getFirst()
        .freePort()
        .orElseThrow(
            () ->
                new GpushException(new LaunchFailure.Refused(0, "ports", "it named no free port")));
  }

  /** All nodes have theirs before one starts: nothing may be committed on any until then. */
  private void takeSnapshots(List<Json.Obj> each, boolean again) throws InterruptedException {
    var taking = new ArrayList<Work<Json, RuntimeException>>();
    for (int i = 0; i < nodes.size(); i++) {
      int node = i;
      Json.Obj spec = each.get(i);
      if (spec.get(SNAPSHOT).isPresent()) {
        long generation = spec.object("about").number("generation").orElse(0L);
        Json.Obj params = Json.object("run", run, "generation", generation, "again", again);
        taking.add(() -> takeSnapshot(node, params));
      }
    }
    tasks.finishAll("snapshot", taking);
  }

  private Json takeSnapshot(int node, Json.Obj params) throws InterruptedException {
    try {
      return nodes.get(node).call("run.snapshot", params);
    } catch (GpushException refused) {
      throw isRefused(refused, "exists") ? new NumberTaken(refused) : at(node, refused);
    }
  }

  /**
   * @param running gets the nodes that have started; after a failure those where ranks may go on
   */
  private List<Long> startOnce(
      List<Json.Obj> each, boolean again, Tasks.Action last, Set<Integer> running, Left left)
      throws InterruptedException {
    takeSnapshots(each, again);
    long begun = clock.nanos();
    var unsure = new ConcurrentSkipListSet<Integer>();
    var starts = new ArrayList<Work<Long, RuntimeException>>();
    for (int i = 0; i < nodes.size(); i++) {
      int node = i;
      Json.Obj params = Json.object("run", run, "spec", each.get(i), "again", again);
      starts.add(
          () -> {
            long at = startNode(node, params, begun, unsure);
            running.add(node);
            return at;
          });
    }
    boolean isStarted = false;
    try {
      // Waits for every answer, even when interrupted: a part that starts later would stay.
      List<Long> started = tasks.finishAll("start", starts);
      last.run();
      isStarted = true;
      long first = started.stream().min(Long::compare).orElse(begun);
      return started.stream().map(at -> Duration.ofNanos(at - first).toMillis()).toList();
    } finally {
      if (!isStarted) {
        end(running);
        running.addAll(unsure);
        if (!running.isEmpty()) {
          left.on(List.copyOf(running));
        }
      }
    }
  }

  /**
   * @param unsure has the node until it is known whether it has started
   */
  private long startNode(int node, Json.Obj params, long begun, Set<Integer> unsure)
      throws InterruptedException {
    unsure.add(node);
    try {
      long at = startNode(nodes.get(node), params, begun);
      unsure.remove(node);
      return at;
    } catch (GpushException refused) {
      if (!(refused.failure() instanceof AgentFailure.LinkOver) || nodes.get(node).isLost()) {
        unsure.remove(node);
      }
      throw isRefused(refused, "exists") ? new NumberTaken(refused) : at(node, refused);
    }
  }

  /** The refusal with the node that it came from. */
  public static GpushException at(int node, GpushException failed) {
    return failed.failure() instanceof AgentFailure.Refused(_, var code, var facts)
        ? new GpushException(
            new AgentFailure.Refused(
                "run.start", code, Json.object("node", node).with("facts", facts)),
            failed)
        : failed;
  }

  /** Whether an agent has refused it with this code. */
  public static boolean isRefused(GpushException failed, String code) {
    return failed.failure() instanceof AgentFailure.Refused(_, var given, _) && given.equals(code);
  }

  private long startNode(NodeCalls node, Json.Obj params, long begun) throws InterruptedException {
    while (true) {
      try {
        long asked = clock.nanos();
        node.call("run.start", params);
        return asked + (clock.nanos() - asked) / 2;
      } catch (GpushException failed) {
        if (failed.failure() instanceof AgentFailure.LinkOver && isStarted(node)) {
          return clock.nanos();
        }
        if (!isRefused(failed, "starting") || clock.nanos() - begun > STARTING.toNanos()) {
          throw failed;
        }
        Thread.sleep(PAUSE);
      }
    }
  }

  /** Whether it runs, on a node whose agent was replaced before it answered. */
  private boolean isStarted(NodeCalls node) throws InterruptedException {
    try {
      Json status = status(node, run);
      return status.flag("alive") && record.isThat(about(status));
    } catch (GpushException unknown) {
      return false;
    }
  }

  private static Json status(NodeCalls node, int run) throws InterruptedException {
    return node.call("run.status", Json.object("run", run));
  }

  private static Json about(Json status) {
    return status.object("spec").object("about");
  }

  /**
   * Kills what has started and waits for it, also when interrupted: the caller reports that nothing
   * runs. Nodes on which ranks may go on stay in the set.
   */
  private void end(Set<Integer> running) {
    List<Work<Boolean, RuntimeException>> ends =
        running.stream()
            .<Work<Boolean, RuntimeException>>map(
                node -> () -> endSoon(nodes.get(node)) && running.remove(node))
            .toList();
    try {
      tasks.finishAll("end", ends);
    } catch (GpushException unreachable) {
      // The first refusal is reported; a run that stays is in the list of runs.
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** A call to a node whose link is cut waits until that is back. */
  private boolean endSoon(NodeCalls node) throws InterruptedException {
    try {
      return tasks.within(ending, "end-soon", () -> end(node));
    } catch (TimeoutException late) {
      return false;
    }
  }

  /**
   * Kills it on all its nodes, each once it answers.
   *
   * @return for each part whether it was there
   * @throws GpushException when a link is over; by then it was killed on the other nodes
   */
  public static List<Boolean> killLater(LaunchSite site, RunRecord record, Tasks tasks)
      throws InterruptedException {
    return tasks.finishAll(
        "kill",
        record.parts().stream()
            .<Work<Boolean, RuntimeException>>map(
                part -> () -> killLater(site.nodes().get(part.node()).calls(), record))
            .toList());
  }

  private static void killIfReachable(NodeCalls node, RunRecord record)
      throws InterruptedException {
    try {
      killLater(node, record);
    } catch (GpushException over) {
      // Its link is over, and so is this launcher's work there.
    }
  }

  /**
   * Kills it there once the node answers; a call waits while its link is cut.
   *
   * @return false where it is not there; its number may be that of another gateway's run
   * @throws GpushException when the link is over: another one, with its own launcher, may follow
   */
  static boolean killLater(NodeCalls node, RunRecord record) throws InterruptedException {
    int run = record.number();
    var link = new NodeCalls.LinkFailures();
    while (!node.isLost()) {
      try {
        Optional<Boolean> isThat = isThat(node, record);
        link.answered();
        if (isThat.equals(Optional.of(false))) {
          return false;
        }
        if (isThat.isPresent()) {
          node.call("run.stop", kill(run));
          return true;
        }
      } catch (GpushException failed) {
        if (isRefused(failed, "not-found")) {
          return false;
        }
        if (!link.mayPass(failed) && !node.isLost()) {
          throw failed;
        }
      }
      Thread.sleep(AGAIN);
    }
    return false;
  }

  /** Whether a node has this run; empty while it has one whose specification it cannot read. */
  static Optional<Boolean> isThat(NodeCalls node, RunRecord record) throws InterruptedException {
    Json status = status(node, record.number());
    boolean isKnown = about(status).text("started").isPresent() || !status.flag("alive");
    return Optional.of(record.isThat(about(status))).filter(_ -> isKnown);
  }

  private static Json.Obj kill(int run) {
    return Json.object(
        "run", run, "signal", "KILL", "grace_s", 0, "why", "another node could not start");
  }

  private boolean end(NodeCalls node) throws InterruptedException {
    node.call("run.stop", kill(run));
    long begun = clock.nanos();
    while (clock.nanos() - begun < ending.toNanos()) {
      if (status(node, run).get("exit").isPresent()) {
        // It never was a run, so its record is removed.
        node.call("run.stop", kill(run).with("forget", true));
        return true;
      }
      Thread.sleep(PAUSE);
    }
    return false;
  }
}
