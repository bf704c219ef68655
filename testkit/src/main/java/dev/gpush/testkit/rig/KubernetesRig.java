package dev.gpush.testkit.rig;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.testkit.rig.Script.Ended;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** One profile of the rig {@code src/test/rigs/kubernetes}: a real Kubernetes with four nodes. */
public final class KubernetesRig {
  /** For {@code @ResourceLock}: a cluster is the same for all who use it. */
  public static final String PLAIN = "rig kubernetes plain";

  public static final String GANGS = "rig kubernetes gangs";

  public static final String OTHERS = "rig kubernetes others";

  /**
   * An image with a Python, one with a shell alone, one with a program for musl, which is at that
   * path, alone.
   */
  public static final String IMAGE = "rig.local/node:1";

  public static final String BARE_IMAGE = "rig.local/bare:1";
  public static final String MUSL_IMAGE = "rig.local/musl:1";
  public static final String MUSL_PROGRAM = "/bin/hello";

  /** A label of its nodes: two of them have one value, two another. */
  public static final String RACK = "rig.local/rack";

  private static final String SCRIPT = "kubernetes";

  private final String profile;
  private final Path kubeconfig;

  private KubernetesRig(String profile, Path kubeconfig) {
    this.profile = profile;
    this.kubeconfig = kubeconfig;
  }

  /** If it is down, the test is skipped; if rigs are required, it is started, or the test fails. */
  public static KubernetesRig of(String profile) throws IOException, InterruptedException {
    boolean isRequired = Script.isRequired(SCRIPT);
    Ended ended = Script.of(SCRIPT).run(isRequired ? "up" : "status", profile);
    assertTrue(ended.status() == 0 || !isRequired, ended::errors);
    assumeTrue(ended.status() == 0, ended.errors());
    return new KubernetesRig(profile, Path.of(ended.output()));
  }

  /** The kubeconfig of an administrator. */
  public Path kubeconfig() {
    return kubeconfig;
  }

  /** Runs kubectl, which must succeed, and returns its output. */
  public String kubectl(String... words) throws IOException, InterruptedException {
    Ended ended = tried(words);
    assertEquals(0, ended.status(), () -> String.join(" ", words) + ": " + ended.errors());
    return ended.output();
  }

  public Ended tried(String... words) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("kubectl", profile));
    command.addAll(List.of(words));
    return Script.of(SCRIPT).run(command.toArray(String[]::new));
  }

  /** Applies this YAML. */
  public String apply(String namespace, String yaml) throws IOException, InterruptedException {
    Ended ended =
        Script.of(SCRIPT).fed(yaml, "kubectl", profile, "-n", namespace, "apply", "-f", "-");
    assertEquals(0, ended.status(), ended::errors);
    return ended.output();
  }

  /** Creates a user's Job of pods that run until they are ended, and waits until all run. */
  public void begin(String namespace, String name, int pods, int gpus, String image)
      throws IOException, InterruptedException {
    apply(
        namespace,
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s}
        spec:
          completionMode: Indexed
          completions: %d
          parallelism: %d
          template:
            spec:
              restartPolicy: OnFailure
              terminationGracePeriodSeconds: 1
              containers:
              - name: trainer
                image: %s
                command: [/bin/sh, -c, "trap exit TERM; while :; do sleep 1; done"]
                env: [{name: ROLE, value: trainer}]
                resources: {limits: {nvidia.com/gpu: %d}}
        """
            .formatted(name, pods, pods, image, gpus));
    kubectl(
        "-n",
        namespace,
        "wait",
        "--for=jsonpath={.status.ready}=" + pods,
        "job/" + name,
        "--timeout=300s");
  }

  /** The facts that show whether pods were touched: identity, state and restarts. */
  public String pods(String namespace) throws IOException, InterruptedException {
    return kubectl(
        "-n",
        namespace,
        "get",
        "pods",
        "-o",
        "jsonpath={range .items[*]}{.metadata.uid} {.status.phase}"
            + " {.status.containerStatuses[0].restartCount}{\"\\n\"}{end}");
  }

  /** As root on {@code control} or one of its nodes. */
  public Ended root(String host, String... words) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("enter", host, profile, "--"));
    command.addAll(List.of(words));
    return Script.of(SCRIPT).run(command.toArray(String[]::new));
  }

  /** Stops a part of it, such as {@code apiserver}, or switches a node off. */
  public void off(String name) throws IOException, InterruptedException {
    switchTo("off", name);
  }

  public void on(String name) throws IOException, InterruptedException {
    switchTo("on", name);
  }

  /** The network between laptop and API server swallows every packet. */
  public void cut() throws IOException, InterruptedException {
    network("cut");
  }

  /** And carries them again. */
  public void heal() throws IOException, InterruptedException {
    network("heal");
  }

  private void network(String word) throws IOException, InterruptedException {
    Ended ended = Script.of(SCRIPT).run(word, profile);
    assertEquals(0, ended.status(), ended::errors);
  }

  private void switchTo(String word, String name) throws IOException, InterruptedException {
    Ended ended = Script.of(SCRIPT).run(word, name, profile);
    assertEquals(0, ended.status(), ended::errors);
  }
}
