package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.acceptance.KubernetesIT.Cluster;
import dev.gpush.testkit.rig.KubernetesRig;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Data, results and a home in a volume of a real cluster. */
@Timeout(900)
@ResourceLock(KubernetesRig.PLAIN)
@Tag("kubernetes")
final class KubernetesVolumesIT {
  /** A claim with its volume, a folder of node 1 of the rig. */
  private static final String CLAIM =
      """
      apiVersion: v1
      kind: PersistentVolume
      metadata: {name: %1$s}
      spec:
        capacity: {storage: 1Gi}
        accessModes: [%2$s]
        storageClassName: ""
        persistentVolumeReclaimPolicy: Retain
        claimRef: {namespace: %1$s, name: data}
        hostPath: {path: /tmp/%1$s, type: DirectoryOrCreate}
        nodeAffinity:
          required:
            nodeSelectorTerms:
            - matchExpressions:
              - {key: kubernetes.io/hostname, operator: In, values: [n1]}
      ---
      apiVersion: v1
      kind: PersistentVolumeClaim
      metadata: {name: data}
      spec:
        accessModes: [%2$s]
        storageClassName: ""
        volumeName: %1$s
        resources: {requests: {storage: 1Gi}}
      """;

  private static final String JOB =
      """
      import os
      print(open(os.environ["GPUSH_DATA"] + "/words").read().strip(), os.environ["HOME"])
      open(os.environ["GPUSH_OUTPUT"] + "/loss", "w").write("3")
      try:
          open(os.environ["GPUSH_DATA"] + "/words", "w")
      except OSError as error:
          print(error.strerror)
      """;

  private static void claim(Cluster cluster, String mode) throws Exception {
    cluster.rig().apply(cluster.namespace(), CLAIM.formatted(cluster.namespace(), mode));
  }

  @Test
  void dataIsFoundAndWhatIsWrittenStays() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      world.file(
          "gpush.yaml",
          """
          nodes: 1
          mounts: {data: "pvc/data/c4:ro"}
          outputs: "pvc/data/runs/{user}"
          home: "pvc/data/homes/{user}"
          """);
      world.file("job.py", JOB);
      Result missing = world.gpush("up").exits(1);
      assertTrue(
          missing.err().contains("there is no PersistentVolumeClaim data in the namespace"),
          missing::toString);
      cluster.isEmpty();
      claim(cluster, "ReadWriteMany");
      try {
        String why = "mounts.data cannot be used on node 0\n  because /mnt/data/c4 does not exist";
        Result up = world.gpush("up").exits(3);
        assertTrue(up.err().contains(why), up::toString);
        Result refused = world.gpush("run", "job.py").exits(255);
        assertTrue(refused.err().contains(why), refused::toString);
        world.gpush("exec", "mkdir -p ~/../../c4 && echo found >~/../../c4/words").succeeded();

        List<String> said =
            world
                .gpush("run", "job.py")
                .succeeded()
                .out()
                .lines()
                .map(line -> line.replaceFirst("^\\[0] ", ""))
                .toList();

        assertTrue(said.getFirst().matches("found /mnt/home/homes/[a-z0-9-]+"), said::toString);
        assertEquals("Read-only file system", said.get(1));
        String home = said.getFirst().substring("found ".length());
        assertEquals(home, ssh(world, "pwd"));
        ssh(world, "echo kept >note; echo $GPUSH_DATA >>note");
        world.gpush("down").succeeded();
        world.gpush("up").succeeded();
        assertEquals("kept\n/mnt/data/c4", ssh(world, "cat note"));
        assertEquals("3", ssh(world, "cat /mnt/outputs/runs/*/devbox-*/run-1/loss"));
        world.gpush("down").succeeded();
        cluster.isEmpty();
      } finally {
        cluster.rig().root("n1", "rm", "-rf", "/tmp/" + cluster.namespace());
        cluster.kubectl("delete", "pv", cluster.namespace(), "--wait=false");
      }
    }
  }

  @Test
  void aClaimForOneNodeIsRefusedForTwo() throws Exception {
    try (Cluster cluster = Cluster.open("", Map.of())) {
      World world = cluster.world();
      world.file("gpush.yaml", "mounts: {data: pvc/data}\n");
      claim(cluster, "ReadWriteOnce");
      try {
        Result refused = world.gpush("up", "--nodes", "2").exits(1);

        assertTrue(
            refused.err().contains("for one node at a time (ReadWriteOnce), and 2 are wanted"),
            refused::toString);
        Result local = world.gpush("up", "--backend", "local").exits(1);
        assertTrue(
            local.err().contains("it mounts no volumes, and gpush.yaml names them: mounts.data"),
            local::toString);
        cluster.isEmpty();
      } finally {
        cluster.kubectl("delete", "pv", cluster.namespace(), "--wait=false");
      }
    }
  }

  private static String ssh(World world, String command) throws Exception {
    return world
        .run(new byte[0], world.ssh("devbox", command).toArray(String[]::new))
        .succeeded()
        .out()
        .strip();
  }
}
