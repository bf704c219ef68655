package dev.gpush.chaos;

import dev.gpush.backends.hosts.HostsBackend;
import dev.gpush.backends.hosts.RackSettings;
import dev.gpush.backends.hosts.local.LocalHost;
import dev.gpush.backends.hosts.local.SystemHost;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.AgentFolder;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** This machine with eight GPUs, which a script pretends. */
final class LocalScene implements Scene {
  private static final int GPUS = 8;

  private final Path folder = Files.createTempDirectory("gpush-chaos-");
  private final Path programs = Files.createDirectory(folder.resolve("bin"));
  private final Path locks = folder.resolve("locks");
  private final Asked asked = new Asked();

  LocalScene() throws IOException {
    var script = new StringBuilder("#!/bin/sh\ncat <<END\n");
    for (int gpu = 0; gpu < GPUS; gpu++) {
      script.append(gpu).append(", GPU-c-%08x, NVIDIA H100 80GB HBM3\n".formatted(gpu));
    }
    Path tool = programs.resolve("nvidia-smi");
    Files.writeString(tool, script + "END\n");
    Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  @Override
  public String name() {
    return "local";
  }

  @Override
  public String gpus() {
    return "4";
  }

  @Override
  public List<Fault> faults() {
    return List.of(Fault.AGENT_KILLED, Fault.PIPES_CUT);
  }

  @Override
  public Backend backend(Life life) {
    Map<String, String> environment =
        Map.of(
            "PATH",
            programs + ":/usr/local/bin:/usr/bin:/bin",
            "HOME",
            folder.toString(),
            "USER",
            "me");
    var real = new SystemHost("here", 2, true, folder, environment);
    var block = new BackendConfig("here", "local", Json.object("locks", locks.toString()), "");
    return new HostsBackend(
        RackSettings.local(block, new Watched(real, life)),
        life.agent(),
        life.random(),
        life.tasks());
  }

  /** A machine whose commands are moments of a gateway. */
  private record Watched(LocalHost real, Life life) implements LocalHost {
    @Override
    public String name() {
      return real.name();
    }

    @Override
    public int cpus() {
      return real.cpus();
    }

    @Override
    public boolean isLinux() {
      return real.isLinux();
    }

    @Override
    public Path home() {
      return real.home();
    }

    @Override
    public Map<String, String> environment() {
      return real.environment();
    }

    @Override
    public Pipe spawn(List<String> arguments, Map<String, String> environment) throws IOException {
      return life.command(arguments, () -> real.spawn(arguments, environment));
    }
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
  public void strike(Fault fault, Life life) throws Exception {
    switch (fault) {
      case AGENT_KILLED -> {
        for (GangRequest request : asked.all()) {
          agents(request.gang(), request.nodes()).stream()
              .findFirst()
              .ifPresent(ProcessHandle::destroyForcibly);
        }
      }
      case PIPES_CUT -> life.cut();
      case CONTROLLER_STOPS, JOB_CANCELLED, JOB_PREEMPTED, NODE_DOWN, HOST_CUT, HALF_TAKEN ->
          throw new IllegalStateException("not here: " + fault);
    }
  }

  private static List<ProcessHandle> agents(GangId gang, int nodes) throws IOException {
    var alive = new ArrayList<ProcessHandle>();
    try (Stream<Path> users = Files.list(Path.of("/tmp"))) {
      for (Path user :
          users.filter(path -> path.getFileName().toString().startsWith("gpush-")).toList()) {
        for (int node = 0; node < nodes; node++) {
          long pid =
              SlurmScene.pid(user.resolve(AgentFolder.name(gang, node)).resolve("agent.json"));
          ProcessHandle.of(pid).filter(ProcessHandle::isAlive).ifPresent(alive::add);
        }
      }
    }
    return alive;
  }

  @Override
  public void heal() {}

  @Override
  public List<String> there(GangId gang, int nodes) throws Exception {
    return agents(gang, nodes).stream().map(agent -> "agent " + agent.pid()).toList();
  }

  @Override
  public List<String> leftovers(GangId gang, int nodes) throws Exception {
    var left = new ArrayList<String>();
    Path workspaces = folder.resolve("nodes");
    if (Files.exists(workspaces)) {
      try (Stream<Path> all = Files.walk(workspaces)) {
        all.map(Path::toString).filter(path -> path.contains(gang.text())).forEach(left::add);
      }
    }
    if (Files.exists(locks)) {
      try (Stream<Path> all = Files.list(locks)) {
        for (Path lock : all.filter(Files::isRegularFile).toList()) {
          Process flock = new ProcessBuilder("flock", "-n", lock.toString(), "true").start();
          if (flock.waitFor() != 0) {
            left.add("locked " + lock);
          }
        }
      }
    }
    return left;
  }

  @Override
  public void close() throws IOException {
    for (GangRequest request : asked.all()) {
      agents(request.gang(), request.nodes()).forEach(ProcessHandle::destroyForcibly);
    }
    FolderTree.delete(folder);
  }
}
