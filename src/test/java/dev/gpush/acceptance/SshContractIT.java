package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.rig.KubernetesRig;
import dev.gpush.testkit.rig.SlurmRig;
import dev.gpush.testkit.rig.SshRig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * What an ssh client may expect of a node, with real clients and the same on every kind of nodes:
 * the scripts in src/test/resources/contract. One session per kind serves all of them, and a few
 * run at a time: most wait for each other's ends, not for a processor.
 */
@Timeout(value = 2, unit = TimeUnit.HOURS)
@Execution(ExecutionMode.CONCURRENT)
final class SshContractIT {
  /** A script that cannot run says why and ends with this. */
  private static final int NOT_HERE = 77;

  private static final int AT_A_TIME = 3;

  /** As of the program timeout. */
  private static final int TIMED_OUT = 124;

  private static final long LIMIT_MINUTES = 10;

  private static final boolean LONG = Boolean.getBoolean("gpush.long");

  @TestFactory
  @Tag("gate")
  Stream<DynamicTest> onThisMachine() throws Exception {
    return contract(RealNodes.local());
  }

  @TestFactory
  @ResourceLock(SshRig.NAME)
  @Tag("ssh-contract")
  Stream<DynamicTest> onHosts() throws Exception {
    return contract(RealNodes.ssh());
  }

  @TestFactory
  @ResourceLock(SlurmRig.DEFAULT)
  @Tag("ssh-contract")
  Stream<DynamicTest> onSlurm() throws Exception {
    return contract(RealNodes.slurm());
  }

  @TestFactory
  @ResourceLock(KubernetesRig.PLAIN)
  @Tag("ssh-contract")
  Stream<DynamicTest> inPods() throws Exception {
    return contract(RealNodes.kubernetes());
  }

  /** All run before the first test of the stream is over; each test has one script's result. */
  private static Stream<DynamicTest> contract(RealNodes nodes) throws Exception {
    var results = new LinkedHashMap<ContractScript, Future<Result>>();
    try (nodes) {
      var up = new ArrayList<>(List.of("up", "--nodes", "1"));
      up.addAll(nodes.gpus());
      nodes.world().gpush(up.toArray(String[]::new)).succeeded();
      results.putAll(new Contract(nodes).run());
    }
    return results.entrySet().stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    nodes.kind() + " " + each.getKey().title(),
                    () -> holds(nodes.kind(), each.getKey(), each.getValue().get())));
  }

  private static void holds(String kind, ContractScript script, Result result) {
    String name = "ssh contract, " + kind + ", " + script.name() + ": ";
    if (result.exit() == NOT_HERE) {
      System.err.println(name + "not run: " + result.err().strip());
      Assumptions.abort(result.err().strip());
    }
    assertTrue(
        result.exit() == 0, () -> name + script.title() + "\n" + result.out() + result.err());
  }

  /** Runs the scripts on one session. */
  private static final class Contract {
    private final RealNodes nodes;
    private final Path othersAreDone;
    private final Map<String, String> environment = new LinkedHashMap<>();

    Contract(RealNodes nodes) throws Exception {
      this.nodes = nodes;
      World world = nodes.world();
      othersAreDone = world.home().resolve("others-are-done");
      environment.put("kind", nodes.kind());
      environment.put("config", world.sshConfig().toString());
      environment.put("gpush", world.launcher().toString());
      environment.put("programs", ContractScript.FOLDER.resolve("programs").toString());
      environment.put("clients", ContractScript.FOLDER.resolveSibling("clients").toString());
      environment.put("rig", World.rig("clients").orElse(""));
      environment.put("others", othersAreDone.toString());
      environment.put("long", LONG ? "long" : "");
      environment.put("kubectl", nodes.cluster().map(SshContractIT::kubectl).orElse(""));
      environment.put("java", System.getProperty("java.home") + "/bin/java");
    }

    Map<ContractScript, Future<Result>> run() throws Exception {
      List<ContractScript> scripts = ContractScript.of(nodes.kind());
      var results = new LinkedHashMap<ContractScript, Future<Result>>();
      try (ExecutorService around = Executors.newCachedThreadPool()) {
        in(scripts, ContractScript.Order.AROUND)
            .forEach(each -> results.put(each, around.submit(() -> run(each))));
        try (ExecutorService beside = Executors.newFixedThreadPool(AT_A_TIME)) {
          in(scripts, ContractScript.Order.BESIDE)
              .forEach(each -> results.put(each, beside.submit(() -> run(each))));
        }
        Files.createFile(othersAreDone);
      }
      for (var order : List.of(ContractScript.Order.ALONE, ContractScript.Order.LAST)) {
        for (ContractScript each : in(scripts, order)) {
          results.put(each, CompletableFuture.completedFuture(run(each)));
        }
      }
      return results;
    }

    private static List<ContractScript> in(
        List<ContractScript> scripts, ContractScript.Order order) {
      return scripts.stream().filter(script -> script.order() == order).toList();
    }

    private Result run(ContractScript script) throws Exception {
      var words = new ArrayList<>(List.of("env"));
      environment.forEach((name, value) -> words.add(name + "=" + value));
      words.addAll(script.command());
      World world = nodes.world();
      long start = System.nanoTime();
      Process process = world.start(world.project(), words);
      CompletableFuture<byte[]> out = World.read(process.getInputStream());
      CompletableFuture<byte[]> err = World.read(process.getErrorStream());
      process.getOutputStream().close();
      int status = status(process, script);
      System.err.println(
          "ssh contract, %s, %s: status %d after %d ms"
              .formatted(
                  nodes.kind(), script.name(), status, (System.nanoTime() - start) / 1_000_000));
      var result = new Result(script.name(), status, text(out), text(err));
      if (status != 0 && status != NOT_HERE) {
        System.err.println(result.err());
      }
      return result;
    }

    /** One that hangs ends, so that it is named. */
    private static int status(Process process, ContractScript script) throws InterruptedException {
      long limit =
          script.order() == ContractScript.Order.AROUND ? 2 * LIMIT_MINUTES : LIMIT_MINUTES;
      if (LONG || process.waitFor(limit, TimeUnit.MINUTES)) {
        return process.waitFor();
      }
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
      return TIMED_OUT;
    }

    private static String text(CompletableFuture<byte[]> bytes) {
      return new String(bytes.join(), StandardCharsets.UTF_8);
    }
  }

  private static String kubectl(KubernetesIT.Cluster cluster) {
    Path rig = World.repository().resolve("src/test/rigs/kubernetes");
    return rig + " kubectl plain -n " + cluster.namespace();
  }
}
