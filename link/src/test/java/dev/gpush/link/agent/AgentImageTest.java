package dev.gpush.link.agent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AgentImageTest {
  private static final Json.Obj HEADER =
      Json.object("gang", "g", "node", 3, "interpreters", List.of("python3", "python"));

  private final AgentImage image =
      new AgentImage(
          Tasks.named("test", (thread, failure) -> failure.printStackTrace()), new Random(1));

  @Test
  void holdsEveryModuleOfTheAgentInOrder() throws IOException {
    Path source = Path.of("../agent/gpush_agent");
    try (var files = Files.walk(source)) {
      var modules =
          files
              .map(file -> source.relativize(file).toString())
              .filter(name -> name.endsWith(".py"))
              .map(name -> name.substring(0, name.length() - ".py".length()))
              .sorted()
              .toList();

      assertEquals(modules, AgentImage.modules());
    }
  }

  @Test
  void passesInterpretersAsArgumentsOfTheirOwn() {
    var arguments = image.arguments(List.of("python3", "/opt/a b/python"));

    assertEquals(List.of("/bin/sh", "-c"), arguments.subList(0, 2));
    assertEquals("sh", arguments.get(3));
    assertEquals(List.of("python3", "/opt/a b/python"), arguments.subList(5, arguments.size()));
    assertThrows(IllegalArgumentException.class, () -> image.arguments(List.of()));
  }

  /** What is known to be the Python is neither looked for nor started by a shell. */
  @Test
  void startsTheOnlyInterpreterByItsWords() {
    List<String> one = List.of(AgentImage.ONE, "/ld", "--library-path", "/so", "/python3");

    List<String> words = image.arguments(one);
    List<String> relay =
        image.relayArguments(one, new GangId("aabbccddeeff0011"), 3, Duration.ofSeconds(60));

    assertEquals(List.of("/ld", "--library-path", "/so", "/python3", "-I"), words.subList(0, 5));
    assertEquals("-c", words.get(words.size() - 2));
    assertEquals("-c", relay.get(relay.size() - 4));
    assertEquals(words.subList(0, words.size() - 1), relay.subList(0, relay.size() - 3));
    assertEquals("wait=60", relay.getLast());
  }

  @Test
  void readsTheExitStatusAndTheLastLineOfErrors() {
    assertEquals(new AgentFailure.NoPython(List.of("python3", "python")), failure(97, ""));
    assertEquals(new AgentFailure.NotThere("g", 3), failure(94, "{\"code\": \"no-agent\"}\n"));
    assertEquals(
        new AgentFailure.CannotWrite("/tmp", "its disk is full (ENOSPC)"),
        failure(
            96,
            "{\"code\": \"no-space\", \"facts\": {\"path\": \"/tmp\", \"errno\": \"ENOSPC\"}}"));
    assertEquals(
        new AgentFailure.OldPython("2.7.18"),
        failure(98, "{\"code\": \"python-too-old\", \"facts\": {\"found\": \"2.7.18\"}}"));
    assertEquals(new AgentFailure.Died("boom"), failure(95, "boom"));
  }

  @Test
  void saysWhatIsHeldAndByWhom() {
    var ann =
        Json.object(
            "owner", "ann",
            "holder", "ann@desk",
            "name", "devbox",
            "gang", "0123",
            "node", 0,
            "host", "vm",
            "pid", 4711,
            "label", "gpu 3");

    assertEquals(
        new AgentFailure.Held("gpu 3", "ann, session devbox on vm (process 4711)"),
        held(Json.object("path", "/locks/gpu-3", "label", "gpu 3", "holder", ann)));
    assertEquals(
        new AgentFailure.Held("/locks/gpu-3", "ann @desk (process 4711)"),
        held(
            Json.object(
                "path",
                "/locks/gpu-3",
                "label",
                "",
                "holder",
                Json.object("owner", "", "holder", "ann\u001b@desk", "pid", 4711))));
    assertEquals(
        new AgentFailure.Held("gpu 3", "another process"),
        held(Json.object("label", "gpu 3", "holder", Json.object())));
  }

  /** It comes from another process, so it may land wherever the command was just writing. */
  @ParameterizedTest
  @ValueSource(ints = {0, 10, 50, 1_000})
  void whatSrunSaysOfTheStatusIsNoReason(int at) {
    String srun = "srun: error: gpu[1-2]: tasks 0-1: Exited with exit code 96\n";
    String held =
        Json.object("code", "held", "facts", Json.object("label", "gpu 3")).write() + "\n";
    int cut = Math.min(at, held.length());

    assertEquals(
        new AgentFailure.Held("gpu 3", "another process"),
        failure(96, held.substring(0, cut) + srun + held.substring(cut)));
    assertEquals(
        new AgentFailure.Died("boom\nat line 7"),
        failure(95, "boom\nsrun: error: g1: task 0: Exited with exit code 95\nat line 7\n"));
  }

  private static AgentFailure held(Json.Obj facts) {
    return failure(
        96, "warning: noise\n" + Json.object("code", "held", "facts", facts).write() + "\n");
  }

  @Test
  void showsWhatCameInsteadWithoutControlCharacters() {
    assertEquals(
        new AgentFailure.NotUnderstood("exit status 127", "welcome\nsh: not found"),
        AgentImage.failure(127, HEADER, "sh: not\u0007 found\n", "\u001b[31mwelcome\u001b[0m\r\n"));
  }

  private static AgentFailure failure(int status, String errors) {
    return AgentImage.failure(status, HEADER, errors, "");
  }
}
