package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.rig.KubernetesRig;
import dev.gpush.testkit.rig.Script;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The whole thread on a real Kubernetes: pods of four nodes, reached through its API server. */
@Timeout(900)
@ResourceLock(KubernetesRig.PLAIN)
@Tag("kubernetes")
final class KubernetesIT {
  /** Where pods have the torch rig: their nodes have it, and the patch of {@link Cluster}. */
  static final String TORCH = "/srv/torch/bin/python";

  /** A namespace of its own, and a world whose gangs are there. */
  record Cluster(KubernetesRig rig, String namespace, World world) implements AutoCloseable {
    static Cluster open(String more, Map<String, String> waits) throws Exception {
      return open(KubernetesRig.of("plain"), more, waits);
    }

    static Cluster open(KubernetesRig rig, String more, Map<String, String> waits)
        throws Exception {
      String namespace =
          "it-" + Long.toHexString(ThreadLocalRandom.current().nextLong()).substring(0, 6);
      rig.kubectl("create", "namespace", namespace);
      World world = World.fresh(waits);
      Files.createDirectories(world.home());
      Optional<String> torch = Ranks.torch();
      Path patch = world.home().resolve("pod.yaml");
      if (torch.isPresent()) {
        Files.writeString(patch, trainingPods(Path.of(torch.get())));
      }
      Files.writeString(
          world.home().resolve("config.yaml"),
          """
          defaults: {backends: [k8s]}
          backends:
            k8s:
              kind: kubernetes
              kubeconfig: %s
              namespace: %s
              image: rig.local/node:1
              cpus: 1
              %s
              %s
          """
              .formatted(
                  rig.kubeconfig(),
                  namespace,
                  torch.isPresent() ? "pod: {patch: " + patch + "}" : "",
                  more));
      return new Cluster(rig, namespace, world);
    }

    /** The Python that torch was made with is expected where it was. */
    private static String trainingPods(Path torch) throws IOException {
      return """
      spec:
        volumes:
        - {name: torch, hostPath: {path: /srv/torch}}
        - {name: python, hostPath: {path: /srv/python}}
        containers:
        - volumeMounts:
          - {name: torch, mountPath: /srv/torch, readOnly: true}
          - {name: python, mountPath: %s, readOnly: true}
      """
          .formatted(torch.toRealPath().getParent().getParent());
    }

    String kubectl(String... words) {
      var all = new String[words.length + 2];
      all[0] = "-n";
      all[1] = namespace;
      System.arraycopy(words, 0, all, 2, words.length);
      try {
        return rig.kubectl(all);
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(stop);
      }
    }

    /** Of every kind of object that is ours. */
    List<String> objects() {
      return kubectl(
              "get",
              "jobs,pods,services,secrets,leases.coordination.k8s.io",
              "-l",
              "app.kubernetes.io/managed-by=gpush",
              "-o",
              "name")
          .lines()
          .toList();
    }

    /** The same while the API server may be away. */
    List<String> seen() {
      return tried("get", "jobs,pods", "-o", "name").errors().isEmpty()
          ? objects()
          : List.of("unknown");
    }

    Script.Ended tried(String... words) {
      var all = new ArrayList<>(List.of("-n", namespace));
      all.addAll(List.of(words));
      try {
        return rig.tried(all.toArray(String[]::new));
      } catch (IOException unreadable) {
        throw new UncheckedIOException(unreadable);
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(stop);
      }
    }

    Set<String> nodes() {
      return Set.of(
          kubectl("get", "pods", "-o", "jsonpath={.items[*].spec.nodeName}").split(" ", -1));
    }

    void isEmpty() throws InterruptedException {
      World.until("the cluster's collector has seen it", () -> objects().isEmpty());
    }

    String pod(int node) {
      return kubectl(
          "get",
          "pods",
          "-l",
          "batch.kubernetes.io/job-completion-index=" + node,
          "-o",
          "jsonpath={.items[*].metadata.name}");
    }

    @Override
    public void close() throws IOException {
      world.close();
      kubectl("delete", "jobs", "--all", "--cascade=foreground", "--timeout=300s");
      kubectl("delete", "namespace", namespace, "--wait=false");
    }
  }

  @Test
  @Tag("gate")
  void upSshSyncRunLogsDown() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      world.file("data/words.txt", "from the laptop\n");
      world.example("examples/hello/train.py");

      world.gpush("up", "--nodes", "2", "--gpus", "8").succeeded();

      Result shell =
          world.run(
              new byte[0], world.ssh("devbox-1", "hostname; echo $PATH").toArray(String[]::new));
      assertTrue(
          shell.succeeded().out().matches("devbox-[0-9a-f]{8}-1\n.*:/bin.*\n"), shell::toString);
      Result both = world.gpush("exec", "--all", "cat data/words.txt").succeeded();
      assertEquals(2, both.out().lines().filter(line -> line.endsWith("from the laptop")).count());
      EditsOfBothSides.areEverywhere(world);
      Result run = world.gpush("run", "examples/hello/train.py");
      assertEquals(
          16, run.succeeded().out().lines().filter(line -> line.contains("sum = 120")).count());
      assertEquals(
          run.out().lines().sorted().toList(),
          world.gpush("logs").succeeded().out().lines().sorted().toList());
      Result doctor = world.gpush("doctor").succeeded();
      assertTrue(doctor.out().contains("2×8 H100 on k8s"), doctor::toString);
      world.gpush("down").succeeded();

      cluster.isEmpty();
    }
  }

  /** The agent and the relay of its link; all else are its own children. */
  @Test
  void twoPythonsStartInEachPod() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      world.gpush("up", "--nodes", "2").succeeded();
      world.gpush("run", "true").succeeded();
      world.gpush("extend", "--for", "3h").succeeded();
      world.gpush("ps").succeeded();
      for (int node : List.of(0, 1)) {
        String outside =
            "grep -l '^PPid:.0$' /proc/[0-9]*/status | sed 's/status$/comm/' | xargs cat";
        List<String> names =
            cluster
                .tried("exec", cluster.pod(node), "--", "sh", "-c", outside)
                .output()
                .lines()
                .toList();
        assertEquals(
            2,
            names.stream().filter(name -> name.startsWith("python")).count(),
            () -> "started from outside the pod: " + names);
      }
      world.gpush("down", "--discard").succeeded();
      cluster.isEmpty();
    }
  }

  @Test
  void aPodThatIsTakenAwayComesBackEmptyAndIsFilledAgain() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      world.file("data/words.txt", "from the laptop\n");
      world.example("examples/hello/train.py");
      world.gpush("up", "--nodes", "2", "--gpus", "H100:1").succeeded();

      cluster.kubectl("delete", "pod", cluster.pod(1), "--wait=false");

      World.until("node 1 is said to be empty", () -> detail(world).contains("empty disk"));
      Result run = world.gpush("run", "examples/hello/train.py");
      assertTrue(run.succeeded().out().contains("sum = 1"), run::toString);
      Result both = world.gpush("exec", "--all", "cat data/words.txt").succeeded();
      assertEquals(2, both.out().lines().filter(line -> line.endsWith("from the laptop")).count());
      assertEquals("ready", world.json("ps", "--json").items().getFirst().text("state").orElse(""));
      world.gpush("down").succeeded();
      cluster.isEmpty();
    }
  }

  /** Its agent begins with the terms of the request, and the pod was replaced without a gateway. */
  @Test
  void anotherPodOfNode0HasTheLeaseOfTheGang() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      world.gpush("up", "--nodes", "1", "--for", "2h").succeeded();
      world.gpush("up", "--nodes", "1", "--for", "5h", "--idle", "4h").succeeded();
      world.gpush("gateway", "stop").succeeded();

      cluster.kubectl("delete", "pod", cluster.pod(0));

      World.until(
          "it has the lease",
          () -> hours(world, "hard_end_s") == 4 && hours(world, "idle_end_s") == 3);
      world.gpush("down", "--discard").succeeded();
      cluster.isEmpty();
    }
  }

  /** Whole hours that are left. */
  private static long hours(World world, String field) {
    try {
      return world.json("ps", "--json").items().getFirst().number(field).orElse(0L) / 3600;
    } catch (Exception notNow) {
      return 0;
    }
  }

  /** What is said of a node is true of where it is now. */
  @Test
  void aPodWhoseNodeIsDrainedComesBackElsewhereAndSaysWhy() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      world.gpush("up", "--nodes", "1", "--gpus", "H100:8").succeeded();
      String host = host(world);
      try {
        cluster.rig().kubectl("drain", host, "--delete-emptydir-data", "--timeout=300s");

        World.until(
            "why is said",
            () -> detail(world).contains("it was evicted: its node is being drained"));
        World.until("it is said to be elsewhere", () -> !host(world).equals(host));
        assertEquals(Set.of(host(world)), cluster.nodes());
        world.gpush("gateway", "stop").succeeded();
        assertEquals(Set.of(host(world)), cluster.nodes());
      } finally {
        cluster.rig().kubectl("uncordon", host);
      }
      world.gpush("down", "--discard").succeeded();
      cluster.isEmpty();
    }
  }

  @Test
  void whatIsOnlyInAPodIsNotLostUnasked() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      world.file(
          "code.py", "import os; open(os.environ['GPUSH_OUTPUT'] + '/loss', 'w').write('3')");
      world.gpush("up", "--nodes", "1").succeeded();
      world.gpush("run", "--nodes", "1", "code.py").succeeded();
      world.gpush("exec", "mkdir ckpt; echo 7 >ckpt/step; echo '#' >>code.py").succeeded();
      World.until("the edit is home", () -> world.text("code.py").endsWith("#\n"));

      Result asked = world.gpush("down").exits(2);

      assertTrue(asked.err().contains("2 files, "), asked::toString);
      assertTrue(asked.err().contains("node 0: outputs/run-1/loss"), asked::toString);
      assertTrue(asked.err().contains("--discard"), asked::toString);
      Result replaced = world.gpush("up", "--nodes", "2", "--replace", "--yes").exits(2);
      String remedy = "gpush up --discard --nodes 2 --replace --yes";
      assertTrue(replaced.err().matches("(?s).*2 files, .*" + remedy + ".*"), replaced::toString);
      assertEquals("7", world.gpush("exec", "cat ckpt/step").succeeded().out().strip());
      world.gpush("up", "--nodes", "2", "--replace", "--discard").succeeded();
      assertTrue(world.gpush("exec", "ls ckpt").exit() != 0);
      world.gpush("down", "--discard").succeeded();
      cluster.isEmpty();
    }
  }

  /** Pods that somebody else began: worked with as a gang, and as they were when it is over. */
  @Test
  void podsThatRunAlreadyAreBorrowed() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      cluster.rig().begin(cluster.namespace(), "train", 2, 1, KubernetesRig.IMAGE);
      String before = cluster.rig().pods(cluster.namespace());
      world.file("data/words.txt", "from the laptop\n");
      world.example("examples/hello/train.py");

      Result up = world.gpush("up", "--attach", "job/train").succeeded();
      assertTrue(up.err().contains("gpush down leaves them running"), up::toString);
      assertTrue(up.err().contains("2×1 H100 on k8s"), up::toString);
      world.gpush("up", "--attach", "job/train").succeeded();
      Result other = world.gpush("up", "--attach", "job/other").exits(1);
      assertTrue(other.err().contains("there is no pod of job/other"), other::toString);
      Result shell =
          world.run(
              new byte[0], world.ssh("devbox-1", "hostname; echo $ROLE").toArray(String[]::new));
      assertTrue(shell.succeeded().out().matches("train-1\ntrainer\n"), shell::toString);
      Result run = world.gpush("run", "examples/hello/train.py");
      assertTrue(run.succeeded().out().contains("sum = 1"), run::toString);
      world.gpush("gateway", "stop").succeeded();
      Result again = world.gpush("exec", "--all", "cat data/words.txt").succeeded();
      assertEquals(2, again.out().lines().filter(line -> line.endsWith("from the laptop")).count());
      assertTrue(
          cluster.tried("exec", "job/train", "--", "sh", "-c", LIVING).output().contains("python"));
      world.gpush("down", "--discard").succeeded();

      assertEquals(before, cluster.rig().pods(cluster.namespace()));
      World.until(
          "the agents are gone",
          () -> cluster.tried("exec", "job/train", "--", "sh", "-c", LIVING).output().isEmpty());
      cluster.isEmpty();
    }
  }

  /**
   * Pythons of its; a first process that is no init leaves the dead ones of anybody in the table.
   */
  private static final String LIVING = "ps -eo stat=,comm= | grep '^[^Z].* python' || true";

  /** Its files stay, what ran there does not, and what became of it is said. */
  @Test
  void aContainerThatIsEndedBeginsAnewAndSaysWhy() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      world.gpush("up", "--nodes", "1").succeeded();
      world.gpush("exec", "echo 7 >step").succeeded();

      // Its status says little: the end of the container kills it too.
      cluster.tried("exec", cluster.pod(0), "--", "kill", "-TERM", "1");

      World.until(
          "why is said",
          () -> detail(world).matches("node 0 restarted .* ago: its container ended with 143"));
      assertEquals("7", world.gpush("exec", "cat step").succeeded().out().strip());
      world.gpush("down", "--discard").succeeded();
      cluster.isEmpty();
    }
  }

  private static String host(World world) {
    try {
      return world.json("nodes", "--json").items().getFirst().text("host").orElse("");
    } catch (Exception notNow) {
      throw new IllegalStateException(notNow);
    }
  }

  private static String detail(World world) {
    try {
      return world.json("ps", "--json").items().getFirst().text("detail").orElse("");
    } catch (Exception notNow) {
      return "";
    }
  }
}
