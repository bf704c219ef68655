package dev.gpush.backends.slurm;

import dev.gpush.backends.remote.Unanswered;
import dev.gpush.backends.slurm.cluster.HostList;
import dev.gpush.backends.slurm.cluster.Partition;
import dev.gpush.backends.slurm.cluster.SlurmNode;
import dev.gpush.backends.slurm.cluster.SlurmTime;
import dev.gpush.backends.slurm.command.ClusterMachine;
import dev.gpush.backends.slurm.command.GangAgents;
import dev.gpush.backends.slurm.command.LoginNode;
import dev.gpush.backends.slurm.command.SlurmCommands;
import dev.gpush.backends.slurm.command.SlurmQueue;
import dev.gpush.backends.slurm.command.Steps;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/** A cluster: its name, its login node, its queue, its nodes. */
final class Site {
  /** If it has changed meanwhile, sbatch refuses the job. */
  private static final Duration FRESH = Duration.ofSeconds(10);

  private static final String BETWEEN = "\ngpush-nodes\n";

  /** Also what is in hidden partitions. */
  private static final String ALL = "-a";

  /** One request, because a login node may be far away. */
  private static final String CLUSTER =
      """
      scontrol "$@" show partition -o || exit
      printf '\\ngpush-nodes\\n'
      exec scontrol "$@" show node -d -o
      """;

  private final String name;
  private final List<Gate> gates;
  private final SlurmSettings settings;
  private final Clock clock;
  private final SlurmCommands commands;
  private final LoginNode login;
  private final SlurmQueue queue;
  private final Steps steps;
  private final GangAgents agents;
  private final AtomicReference<Optional<Cluster>> cluster =
      new AtomicReference<>(Optional.empty());

  Site(
      String name,
      List<Gate> gates,
      SlurmSettings settings,
      Machine there,
      AgentProgram agent,
      Tasks tasks,
      Clock clock) {
    Machine machine =
        settings.cluster().isEmpty() ? there : new ClusterMachine(there, settings.cluster());
    this.name = name;
    this.gates = List.copyOf(gates);
    this.settings = settings;
    this.clock = clock;
    this.commands = new SlurmCommands(machine, tasks);
    this.login = new LoginNode(name, commands);
    this.queue = new SlurmQueue(commands, login);
    this.steps = new Steps(machine, clock);
    this.agents = new GangAgents(steps, agent, tasks);
  }

  /**
   * The state of the cluster.
   *
   * @param isAll with hidden partitions
   */
  private record Cluster(
      boolean isAll, List<Partition> partitions, List<SlurmNode> nodes, long nanos) {}

  String name() {
    return name;
  }

  String machine() {
    return commands.machine().name();
  }

  /** The local clock, for durations. */
  Clock time() {
    return clock;
  }

  SlurmSettings settings() {
    return settings;
  }

  SlurmCommands commands() {
    return commands;
  }

  LoginNode login() {
    return login;
  }

  SlurmQueue queue() {
    return queue;
  }

  Steps steps() {
    return steps;
  }

  GangAgents agents() {
    return agents;
  }

  List<Partition> partitions() throws InterruptedException, Unanswered {
    return Partition.parse(read("show", "partition", "-o"));
  }

  List<SlurmNode> nodes() throws InterruptedException, Unanswered {
    return SlurmNode.parse(read("show", "node", "-d", "-o"));
  }

  private String read(String... arguments) throws InterruptedException, Unanswered {
    var command = new ArrayList<>(List.of("scontrol"));
    if (isAll(settings)) {
      command.add(ALL);
    }
    command.addAll(List.of(arguments));
    return commands.read(command);
  }

  /** Hidden partitions are not proposed, but one that is named is used. */
  private static boolean isAll(SlurmSettings settings) {
    return !settings.options().partitions().isEmpty();
  }

  /**
   * @param hosts as Slurm lists them
   */
  List<SlurmNode> nodes(String hosts) throws InterruptedException, Unanswered {
    Set<String> names = Set.copyOf(HostList.expand(hosts));
    List<SlurmNode> planned =
        fresh().stream()
            .flatMap(now -> now.nodes().stream())
            .filter(node -> names.contains(node.name()))
            .toList();
    if (planned.size() == names.size()) {
      return planned;
    }
    return SlurmNode.parse(
        commands.read(List.of("scontrol", ALL, "show", "node", "-d", "-o", hosts)));
  }

  /** The job for the request, from the present state of the cluster. */
  JobShaping.Result shape(GangRequest request) throws InterruptedException, Unanswered {
    boolean isAll = isAll(settings.with(request));
    var command = new ArrayList<>(List.of("/bin/sh", "-c", CLUSTER, "sh"));
    if (isAll) {
      command.add(ALL);
    }
    String text = commands.read("scontrol", command);
    int middle = text.indexOf(BETWEEN);
    if (middle < 0) {
      throw new Unanswered("scontrol on " + machine() + " does not list its nodes", null);
    }
    var now =
        new Cluster(
            isAll,
            Partition.parse(text.substring(0, middle)),
            SlurmNode.parse(text.substring(middle + BETWEEN.length())),
            clock.nanos());
    cluster.set(Optional.of(now));
    return shape(request, now);
  }

  /** The same from the state that a plan has just read. */
  JobShaping.Result shapeAsPlanned(GangRequest request) throws InterruptedException, Unanswered {
    Optional<Cluster> seen = fresh().filter(now -> now.isAll() == isAll(settings.with(request)));
    return seen.isPresent() ? shape(request, seen.get()) : shape(request);
  }

  private Optional<Cluster> fresh() {
    return cluster.get().filter(seen -> clock.nanos() - seen.nanos() < FRESH.toNanos());
  }

  private JobShaping.Result shape(GangRequest request, Cluster of)
      throws InterruptedException, Unanswered {
    if (settings.with(request).container().isPresent() && !login.facts().hasContainers()) {
      return Container.missing();
    }
    return new JobShaping(request, settings.with(request), of.partitions(), of.nodes()).result();
  }

  /** Commands for the login node, as the user would type them on this machine. */
  List<String> typed(List<String> works) {
    return works.stream()
        .map(work -> work.startsWith("--") ? work : gates.isEmpty() ? there(work) : ssh(work))
        .toList();
  }

  private String ssh(String command) {
    return "ssh " + machine() + " " + there(command);
  }

  /** A command as the user would type it on the login node. */
  String there(String command) {
    return ClusterMachine.typed(settings.cluster(), command);
  }

  /** The cluster's time of day. */
  Optional<LocalDateTime> clock() throws InterruptedException, Unanswered {
    return SlurmTime.moment(commands.read(List.of("date", "+%Y-%m-%dT%H:%M:%S")));
  }

  /** The folder of the job's log, on the file system that login node and nodes share. */
  String folder(LoginNode.Facts facts, GangId gang) {
    return facts.home() + "/gpush/" + gang.text();
  }
}
