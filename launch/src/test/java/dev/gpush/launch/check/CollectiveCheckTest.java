package dev.gpush.launch.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.gpush.core.fabric.ExpectedNetwork;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.NodeSet;
import dev.gpush.core.fabric.PlannedScript;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.FakeNode;
import dev.gpush.launch.fabric.gang.RankFabric;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.PythonFacts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CollectiveCheckTest {
  @TempDir private Path folder;

  /** Every user of a node can read the command lines of all processes. */
  @Test
  void valuesOfTheUserAreOnNoCommandLineAndOutliveTheProvidersScript() throws Exception {
    Path script = write("env.sh", "set -- lost\nexport TOKEN=provider NCCL_NET=tcpx\n");
    Path python = write("python", "#!/bin/sh\necho \"$TOKEN $NCCL_NET $MASTER_PORT $1\"\n");
    var order = order(script, python, Map.of("TOKEN", "a secret", "not.a.name", "x"));
    try (var tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace())) {
      var check = new CollectiveCheck(site(), tasks);

      List<String> words = check.words(order, 0);

      assertFalse(words.toString().contains("a secret"), words::toString);
      assertEquals("a secret tcpx 29500 -c", run(words, check.environment(order, 0, 29500)));
    }
  }

  @Test
  void aNumberThatIsNoPortIsNotTakenForOne() throws Exception {
    var node = new FakeNode();
    node.portsFrom(2000);
    assertEquals(Optional.of(2000), node.freePort());
    for (long number : List.of(0L, 65_536L, (1L << 32) + 2000)) {
      node.portsFrom(number);
      assertEquals(Optional.empty(), node.freePort());
    }
  }

  private CollectiveCheck.Order order(Path script, Path python, Map<String, String> environment) {
    var interpreter = new PythonFacts.Interpreter(python.toString(), "3.11.2", "/usr", false);
    var facts =
        new PythonFacts(
            interpreter,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            List.of(),
            Map.of(),
            new PythonFacts.Account("/root", "root", "/usr/bin"));
    var plan =
        new FabricPlan(
            1,
            "",
            ExpectedNetwork.UNKNOWN,
            List.of(),
            List.of(new PlannedScript(script.toString(), NodeSet.of(List.of(0)), "", "")),
            List.of());
    return new CollectiveCheck.Order(
        "10.0.0.0",
        List.of(1),
        false,
        List.of(facts),
        new RankFabric(plan, Optional.empty()),
        environment);
  }

  private LaunchSite site() {
    var info = new NodeInfo(0, "host0", "10.0.0.0", List.of("0"), "H100", 8, "/ws");
    return new LaunchSite(
        new SessionName("devbox"),
        "0123456789",
        folder,
        false,
        List.of(new LaunchNode(() -> info, new FakeNode())),
        folder.resolve("history"),
        Optional.empty());
  }

  private Path write(String name, String text) throws IOException {
    Path file = Files.writeString(folder.resolve(name), text);
    file.toFile().setExecutable(true);
    return file;
  }

  private static String run(List<String> words, Map<String, String> environment)
      throws IOException {
    var builder = new ProcessBuilder(words).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process process = builder.start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
  }
}
