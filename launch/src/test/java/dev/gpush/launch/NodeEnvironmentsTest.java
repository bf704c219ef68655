package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.Setting;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.launch.node.EnvironmentChoice;
import dev.gpush.launch.node.NodeEnvironments;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The session's environment and its setup, on real agents. */
@Tag("local")
final class NodeEnvironmentsTest extends TwoAgents {
  private static EnvironmentChoice choice(Map<String, Object> values) {
    return choice(values, Optional.empty());
  }

  private static EnvironmentChoice choice(Map<String, Object> values, Optional<String> asked) {
    List<Setting> settings =
        values.entrySet().stream()
            .map(each -> new Setting(each.getKey(), Json.of(each.getValue()), "", "gpush.yaml:1"))
            .toList();
    var config = new Config(Path.of("/p"), "gpush.yaml", settings, List.of(), List.of(), List.of());
    return EnvironmentChoice.of(config, asked);
  }

  private void prepare(Map<String, Object> values) throws InterruptedException {
    new NodeEnvironments(gang.site(), gang.tasks()).prepare(choice(values), talk);
  }

  private Failure refused(Map<String, Object> values) {
    return assertThrows(GpushException.class, () -> prepare(values)).failure();
  }

  private String on(int node, String line) throws IOException, InterruptedException {
    return gang.site()
        .nodes()
        .get(node)
        .calls()
        .ask(List.of("/bin/sh", "-c", line), Map.of(), Duration.ofMinutes(1))
        .output();
  }

  @Test
  void aPythonThatIsAskedForReplacesTheProjectsAndItsCondaButNotItsModules() {
    Map<String, Object> project =
        Map.of("python.conda", "llm", "python.modules", List.of("cuda"), "python.file", "env.sh");

    EnvironmentChoice own = choice(project);
    EnvironmentChoice other = choice(project, Optional.of("/opt/py"));

    assertEquals(Optional.of("llm"), own.conda());
    assertEquals(Optional.of("@conda"), own.python());
    assertEquals(Optional.empty(), other.conda());
    assertEquals(Optional.of("/opt/py"), other.python());
    assertEquals(List.of("cuda"), other.modules());
    assertEquals(Optional.of("env.sh"), other.file());
    assertEquals(Optional.of("./made"), choice(Map.of("python.venv", "made")).python());
  }

  @Test
  void uvLockIsTheEnvironmentThatUvMakesBeforeTheSetupOfTheProject() {
    EnvironmentChoice uv = choice(Map.of("python", "uv.lock", "setup.run", "make"));

    assertEquals(Optional.of("./.venv"), uv.python());
    assertEquals(
        List.of("uv sync --frozen", "make"), uv.steps().stream().map(step -> step.run()).toList());
    assertEquals(List.of("uv.lock", "pyproject.toml"), uv.steps().getFirst().when());
  }

  @Test
  void variablesAndAFileReachCommandsAndRanks() throws Exception {
    gang.put("env.sh", "export FROM_FILE=$FROM_CONFIG-too\n");

    prepare(Map.of("env", Json.object("FROM_CONFIG", "one"), "python.file", "env.sh"));

    assertEquals("one one-too\n", on(1, "echo $FROM_CONFIG $FROM_FILE"));
    int run = launch(asked("sh", "-c", "echo rank $FROM_CONFIG $FROM_FILE"), Map.of()).number();
    assertEquals(Optional.of(0), follow(run));
    assertTrue(output.lines().stream().allMatch(line -> line.contains("rank one one-too")));
  }

  @Test
  void whatAllNodesHaveIsNotToldAgain() throws Exception {
    var environments = new NodeEnvironments(gang.site(), gang.tasks());
    EnvironmentChoice one = choice(Map.of("env", Json.object("FROM_CONFIG", "one")));
    environments.prepare(one, talk);
    Json.Obj other = Json.object("env", Json.object("FROM_CONFIG", "other"));
    gang.site().nodes().get(1).calls().call("environment.use", other);

    environments.prepare(one, talk);
    assertEquals("other\n", on(1, "echo $FROM_CONFIG"));

    environments.prepare(choice(Map.of()), talk);
    assertEquals("\n", on(1, "echo $FROM_CONFIG"));
  }

  @Test
  void whatCannotBeActivatedIsAFailureWithItsReasonAndShellsWork() throws Exception {
    assertEquals(
        new LaunchFailure.NoEnvironment(
            0,
            "gone.sh",
            gang.onNode(0, "gone.sh") + " does not exist on the node, or cannot be read"),
        refused(Map.of("python.file", "gone.sh")));

    assertEquals("fine\n", on(0, "echo fine"));
    prepare(Map.of());
  }

  @Test
  void setupRunsOncePerNodeAndAgainWhenItsFilesChange() throws Exception {
    gang.put("requirements.txt", "one\n");
    Map<String, Object> project =
        Map.of(
            "setup.run",
            "echo installing; echo x >>../count",
            "setup.when",
            List.of("requirements.txt"));

    prepare(project);
    prepare(project);
    assertEquals("x\n", on(0, "cat " + gang.onNode(0, "../count")));
    assertEquals("x\n", on(1, "cat " + gang.onNode(1, "../count")));

    gang.put("requirements.txt", "two\n");
    prepare(project);
    assertEquals("x\nx\n", on(1, "cat " + gang.onNode(1, "../count")));
    assertEquals("installing\n", Files.readString(state(1).resolve("setup/setup.log")));
    assertTrue(talk.said().contains("setup: echo installing; echo x >>../count"));
  }

  @Test
  void anotherActivationIsSaid() throws Exception {
    gang.put("one.sh", "");
    gang.put("two.sh", "");
    var environments = new NodeEnvironments(gang.site(), gang.tasks());
    for (String file : List.of("one.sh", "one.sh", "two.sh")) {
      environments.prepare(choice(Map.of("python.file", file)), talk);
    }

    assertEquals(
        List.of("shells and runs on devbox activate two.sh from now on, not one.sh"),
        talk.said().stream().filter(line -> line.startsWith("shells")).toList());
  }

  @Test
  void setupMakesWhatIsActivated() throws Exception {
    prepare(Map.of("python.file", "made.sh", "setup.run", "echo export MADE=here >made.sh"));

    assertEquals("here\n", on(1, "echo $MADE"));
  }

  @Test
  void aSetupThatFailsSaysWhereAndWhyAndRunsAgain() throws Exception {
    Map<String, Object> project =
        Map.of("setup.run", "[ ! -e stop ] || { echo no space left; exit 3; }\necho done");
    Files.writeString(gang.onNode(1, "stop"), "");

    assertEquals(
        new LaunchFailure.SetupFailed(
            1,
            project.get("setup.run").toString(),
            3,
            "no space left",
            state(1).resolve("setup/setup.log").toString()),
        refused(project));

    Files.delete(gang.onNode(1, "stop"));
    prepare(project);
    assertEquals("done\n", Files.readString(state(1).resolve("setup/setup.log")));
  }

  @Test
  void theFirstLineThatFailsEndsSetup() {
    var failed =
        (LaunchFailure.SetupFailed) refused(Map.of("setup.run", "echo first\nfalse\necho last"));

    assertEquals("first", failed.said());
    assertEquals(1, failed.status());
  }

  private Path state(int node) {
    return Path.of(gang.site().nodes().get(node).info().state());
  }
}
