package dev.gpush.acceptance;

import dev.gpush.testkit.rig.KubernetesRig;
import dev.gpush.testkit.rig.SlurmRig;
import dev.gpush.testkit.rig.SshRig;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Nodes of one kind for a test: a world whose gangs are there, and who may end an agent there. */
record RealNodes(
    String kind,
    World world,
    List<String> gpus,
    Killer killer,
    Optional<KubernetesIT.Cluster> cluster)
    implements AutoCloseable {
  /** Ends a process of a node, as the kernel does where memory is short. */
  interface Killer {
    void kill(int node, String host, long pid) throws Exception;
  }

  static RealNodes local() throws IOException {
    return new RealNodes(
        "local",
        World.asShipped(Map.of()),
        List.of(),
        (_, _, pid) -> World.signal("KILL", List.of(pid)),
        Optional.empty());
  }

  static RealNodes ssh() throws Exception {
    SshRig rig = SshRig.required();
    World world =
        configured(
            Map.of("SSH_ASKPASS", rig.askpass().toString(), "SSH_ASKPASS_REQUIRE", "force"),
            "defaults: {backends: [rack]}\n"
                + "backends: {rack: {kind: ssh, hosts: [h1, h2], ssh-config: "
                + rig.config()
                + "}}\n");
    return new RealNodes(
        "ssh",
        world,
        List.of("--gpus", "H100:1"),
        (_, host, pid) -> rig.in(host, "kill", "-9", Long.toString(pid)),
        Optional.empty());
  }

  static RealNodes slurm() throws Exception {
    SlurmRig rig = SlurmRig.of("default");
    World world =
        configured(
            Map.of(),
            "defaults: {backends: [hpc]}\n"
                + "backends: {hpc: {kind: slurm, login: login, ssh-config: "
                + rig.sshConfig()
                + "}}\n");
    return new RealNodes(
        "slurm",
        world,
        List.of("--gpus", "H100:1"),
        (_, host, pid) -> rig.root(host, "kill", "-KILL", Long.toString(pid)),
        Optional.empty());
  }

  static RealNodes kubernetes() throws Exception {
    var cluster = KubernetesIT.Cluster.open("", World.AS_SHIPPED);
    return new RealNodes(
        "kubernetes",
        cluster.world(),
        List.of(),
        (node, _, pid) ->
            cluster.kubectl("exec", cluster.pod(node), "--", "kill", "-KILL", Long.toString(pid)),
        Optional.of(cluster));
  }

  /** Pods that are not gpush's: {@code up} attaches to them. */
  static RealNodes attached() throws Exception {
    var cluster = KubernetesIT.Cluster.open("", World.AS_SHIPPED);
    cluster.rig().begin(cluster.namespace(), "train", 2, 1, KubernetesRig.IMAGE);
    return new RealNodes(
        "attached pods",
        cluster.world(),
        List.of("--attach", "job/train"),
        (_, host, pid) -> cluster.kubectl("exec", host, "--", "kill", "-KILL", Long.toString(pid)),
        Optional.of(cluster));
  }

  private static World configured(Map<String, String> environment, String text) throws IOException {
    World world = World.asShipped(environment);
    Files.createDirectories(world.home());
    Files.writeString(world.home().resolve("config.yaml"), text);
    return world;
  }

  @Override
  public void close() throws IOException {
    if (cluster.isPresent()) {
      cluster.get().close();
    } else {
      world.close();
    }
  }
}
