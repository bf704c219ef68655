package dev.gpush.chaos;

import dev.gpush.backends.kubernetes.KubernetesBackend;
import dev.gpush.backends.kubernetes.api.Access;
import dev.gpush.backends.kubernetes.api.KubeApi;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.testkit.rig.KubernetesRig;
import dev.gpush.testkit.rig.Script;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/** A namespace of the Kubernetes rig. */
final class KubernetesScene implements Scene {
  private static final String KINDS = "jobs,pods,services,secrets,leases.coordination.k8s.io";

  private final KubernetesRig rig;
  private final String namespace;
  private final Asked asked = new Asked();

  // guarded by this: what heal is for
  private boolean isAway;

  KubernetesScene() throws Exception {
    this.rig = KubernetesRig.of("plain");
    this.namespace =
        "chaos-" + Long.toHexString(ThreadLocalRandom.current().nextLong()).substring(0, 6);
    rig.kubectl("create", "namespace", namespace);
  }

  @Override
  public String name() {
    return "kubernetes";
  }

  @Override
  public String gpus() {
    return "H100:8";
  }

  @Override
  public List<Fault> faults() {
    return List.of(
        Fault.CONTROLLER_STOPS, Fault.JOB_CANCELLED, Fault.AGENT_KILLED, Fault.PIPES_CUT);
  }

  @Override
  public Backend backend(Life life) {
    Json.Obj values =
        Json.object(
            "kubeconfig",
            rig.kubeconfig().toString(),
            "namespace",
            namespace,
            "image",
            KubernetesRig.IMAGE,
            "cpus",
            1,
            "remember",
            2);
    var server =
        new WatchedServer(
            new KubeApi(
                new Access("k8s", Optional.of(rig.kubeconfig()), Optional.empty()), Map.of()),
            life);
    return KubernetesBackend.over(
        server,
        new BackendConfig("k8s", "kubernetes", values, ""),
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
        isAway = true;
        rig.off("apiserver");
      }
      case JOB_CANCELLED -> kubectl("delete", "jobs", "--all", "--wait=false");
      case AGENT_KILLED -> {
        for (String pod : kubectl("get", "pods", "-o", "name").output().lines().toList()) {
          kubectl("exec", pod, "--", "kill", "-TERM", "1");
          return;
        }
      }
      case PIPES_CUT -> life.cut();
      case HOST_CUT, HALF_TAKEN, JOB_PREEMPTED, NODE_DOWN ->
          throw new IllegalStateException("not here: " + fault);
    }
  }

  private Script.Ended kubectl(String... words) throws IOException, InterruptedException {
    var all = new ArrayList<>(List.of("-n", namespace));
    all.addAll(List.of(words));
    return rig.tried(all.toArray(String[]::new));
  }

  @Override
  public synchronized void heal() throws Exception {
    if (isAway) {
      rig.on("apiserver");
      isAway = false;
    }
  }

  @Override
  public List<String> there(GangId gang, int nodes) throws Exception {
    return listed("jobs,pods", gang).stream()
        .map(
            object -> object.replaceFirst("^job.batch/", "job ").replaceFirst("^pod/", "agent in "))
        .toList();
  }

  @Override
  public List<String> leftovers(GangId gang, int nodes) throws Exception {
    return listed(KINDS, gang);
  }

  private List<String> listed(String kinds, GangId gang) throws Exception {
    Script.Ended listed = kubectl("get", kinds, "-l", "gpush.dev/gang=" + gang, "-o", "name");
    return listed.status() == 0
        ? listed.output().lines().toList()
        : List.of("unknown: " + listed.errors());
  }

  @Override
  public void close() throws IOException {
    try {
      heal();
      kubectl("delete", "jobs", "--all", "--cascade=foreground", "--timeout=300s");
      kubectl("delete", "namespace", namespace, "--wait=false");
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Exception broken) {
      throw new IOException(broken);
    }
  }
}
