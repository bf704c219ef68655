package dev.gpush.chaos;

import dev.gpush.backends.slurm.SlurmBackend;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.AgentFolder;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.hub.HubMachine;
import dev.gpush.testkit.rig.Script;
import dev.gpush.testkit.rig.SlurmRig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** A profile of the Slurm rig as ann has it, through a hub on its login node. */
final class SlurmScene implements Scene {
  private static final Duration LEAVE = Duration.ofSeconds(10);
  private static final List<String> HOSTS = List.of("gpu1", "gpu2", "gpu3", "gpu4");

  /** An agent and its parent, the guard, which would start another one. */
  private static final String KILL_WITH_GUARD =
      "kill -KILL $(sed -n 's/^PPid:[^0-9]*//p' /proc/$1/status) $1";

  private final SlurmRig rig;
  private final boolean isPreemptible;
  private final Asked asked = new Asked();

  // guarded by this: what heal is for
  private boolean isStopped;
  private final List<String> down = new ArrayList<>();
  private final List<String> rivals = new ArrayList<>();

  SlurmScene(String profile) throws Exception {
    this.rig = SlurmRig.of(profile);
    this.isPreemptible = profile.equals("limits");
  }

  @Override
  public String name() {
    return isPreemptible ? "slurm, preemptible" : "slurm";
  }

  @Override
  public String gpus() {
    return "H100:8";
  }

  @Override
  public List<Fault> faults() {
    return isPreemptible
        ? List.of(Fault.JOB_PREEMPTED)
        : List.of(
            Fault.CONTROLLER_STOPS,
            Fault.JOB_CANCELLED,
            Fault.NODE_DOWN,
            Fault.AGENT_KILLED,
            Fault.PIPES_CUT);
  }

  @Override
  public Backend backend(Life life) {
    var hub =
        new HubMachine(
            life.beneath(rig.login("ann")),
            life.agent(),
            "chaos",
            LEAVE,
            LinkTiming.usual(),
            life.tasks(),
            Clock.system(),
            life.random());
    life.owns(hub::close);
    Json.Obj values =
        isPreemptible ? Json.object("partition", List.of("cancelled")) : Json.object();
    return SlurmBackend.of(
        new BackendConfig("hpc", "slurm", values, ""),
        life.watched(hub),
        List.of(),
        life.agent(),
        life.tasks(),
        Clock.system(),
        life.random());
  }

  @Override
  public void asked(GangRequest request) {
    asked.add(request);
  }

  @Override
  public List<GangRequest> asked() {
    return asked.all();
  }

  @Override
  public synchronized void strike(Fault fault, Life life) throws Exception {
    switch (fault) {
      case CONTROLLER_STOPS -> {
        isStopped = true;
        rig.root("ctl", "pkill", "-STOP", "slurmctld");
      }
      case JOB_CANCELLED -> {
        for (GangRequest request : asked.all()) {
          rig.root("login", "scancel", "-n", "gpush-" + request.gang());
        }
      }
      case JOB_PREEMPTED ->
          rivals.add(
              rig.ann(
                  "sbatch",
                  "--parsable",
                  "-p",
                  "urgent",
                  "-N2",
                  "--exclusive",
                  "-o",
                  "/dev/null",
                  "--wrap",
                  "sleep 600"));
      case NODE_DOWN -> {
        String host = host();
        down.add(host);
        rig.root("ctl", "scontrol", "update", "NodeName=" + host, "State=DOWN", "Reason=chaos");
      }
      case AGENT_KILLED -> {
        for (GangRequest request : asked.all()) {
          killFirst(request);
        }
      }
      case PIPES_CUT -> life.cut();
      case HOST_CUT, HALF_TAKEN -> throw new IllegalStateException("not here: " + fault);
    }
  }

  /** One that has an agent, else the first. */
  private String host() throws Exception {
    for (String host : HOSTS) {
      for (GangRequest request : asked.all()) {
        if (!agents(host, request.gang(), request.nodes()).isEmpty()) {
          return host;
        }
      }
    }
    return HOSTS.getFirst();
  }

  private void killFirst(GangRequest request) throws Exception {
    for (String host : HOSTS) {
      for (Long pid : agents(host, request.gang(), request.nodes())) {
        rig.root(host, "sh", "-c", KILL_WITH_GUARD, "sh", pid.toString());
        return;
      }
    }
  }

  /** Processes of a gang's agents that live there. */
  private List<Long> agents(String host, GangId gang, int nodes) throws Exception {
    var alive = new ArrayList<Long>();
    for (int node = 0; node < nodes; node++) {
      Path file =
          rig.host(host)
              .resolve("tmp/gpush-20001")
              .resolve(AgentFolder.name(gang, node))
              .resolve("agent.json");
      long pid = pid(file);
      if (pid > 0 && rig.root(host, "kill", "-0", Long.toString(pid)).status() == 0) {
        alive.add(pid);
      }
    }
    return alive;
  }

  static long pid(Path agent) {
    try {
      return Json.parse(Files.readString(agent)).number("pid").orElse(0L);
    } catch (IOException | RuntimeException none) {
      return 0;
    }
  }

  @Override
  public synchronized void heal() throws Exception {
    if (isStopped) {
      rig.root("ctl", "pkill", "-CONT", "slurmctld");
      isStopped = false;
    }
    for (String rival : rivals) {
      rig.tried("ann", "scancel", rival);
    }
    rivals.clear();
    for (String host : down) {
      rig.root("ctl", "scontrol", "update", "NodeName=" + host, "State=RESUME");
    }
    down.clear();
  }

  @Override
  public List<String> there(GangId gang, int nodes) throws Exception {
    Script.Ended jobs = rig.root("login", "squeue", "-h", "-n", "gpush-" + gang, "-o", "job %i %T");
    if (jobs.status() != 0) {
      return List.of("job unknown: " + jobs.errors());
    }
    var found = new ArrayList<>(jobs.output().lines().toList());
    for (String host : HOSTS) {
      agents(host, gang, nodes).forEach(pid -> found.add("agent " + pid + " on " + host));
    }
    return found;
  }

  @Override
  public List<String> leftovers(GangId gang, int nodes) throws Exception {
    Path folder = rig.home().resolve("ann/gpush").resolve(gang.text());
    if (!Files.exists(folder)) {
      return List.of();
    }
    try (Stream<Path> walk = Files.walk(folder)) {
      return walk.map(Path::toString).toList();
    }
  }

  @Override
  public void close() throws IOException {
    try {
      heal();
      for (GangRequest request : asked.all()) {
        rig.root("login", "scancel", "-n", "gpush-" + request.gang());
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Exception broken) {
      throw new IOException(broken);
    }
  }
}
