package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.awaitSettled;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.BlockingStream;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.fake.FakeTrouble;
import dev.gpush.testkit.fixture.Asked;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The gateway of today over agents of every kept release (scripts/freeze-agent): a lease outlives
 * an upgrade, so a running agent must go on serving.
 */
final class OldAgentsTest {
  /** From the folder of this module, where Maven runs its tests. */
  private static final Path KEPT = Path.of("../link/src/test/resources/agents");

  static List<Path> releases() throws IOException {
    try (Stream<Path> kept = Files.list(KEPT)) {
      return kept.sorted().toList();
    }
  }

  @ParameterizedTest
  @MethodSource("releases")
  void isServedAsTodaysIs(Path release) throws Exception {
    byte[] zip = Files.readAllBytes(release.resolve("agent.zip"));
    assertEquals(
        Files.readString(release.resolve("sha256")).strip(),
        HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(zip)),
        "a kept release is never changed");
    try (Tasks tasks = Tasks.named("old", (_, failure) -> failure.printStackTrace());
        var rig =
            new SessionRig(
                FakeTrouble.none(1),
                Optional.of(new AgentImage(tasks, new SecureRandom(), texts(zip))))) {
      Path project = rig.project("project");
      SessionService first = rig.gateway();
      first.sessions().up(ask(project, 1), Talk.silent());

      Link link = first.sessions().find(DEVBOX).link(0);
      commandsAndTerminals(link);
      resumes(link);
      filesAndRuns(first, project);

      first.close();
      SessionService next = rig.gateway();
      next.recover();
      awaitSettled(next);
      SessionView taken = next.sessions().list().getFirst();
      assertEquals(SessionState.READY, taken.state());
      assertNotEquals(Optional.of(0L), taken.generation(), "unknown is not nothing");
      assertEquals(2, next.runs().list(DEVBOX).size());
      assertEquals(List.of(), next.sessions().down(DEVBOX, true, Talk.silent()).kept());
      rig.assertNothingLeft(next);
    }
  }

  private static Map<String, String> texts(byte[] zip) throws IOException {
    var texts = new TreeMap<String, String>();
    try (var files = new ZipInputStream(new ByteArrayInputStream(zip))) {
      for (var file = files.getNextEntry(); file != null; file = files.getNextEntry()) {
        texts.put(file.getName(), new String(files.readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    return texts;
  }

  private static void commandsAndTerminals(Link link) throws Exception {
    var command =
        link.open(Json.object("type", "exec", "stdin", true, "command", "tr a-z A-Z; exit 7"));
    command.input().write("hello".getBytes(StandardCharsets.UTF_8));
    command.input().close();
    assertEquals("HELLO", text(command));
    assertEquals(Json.object("exit", 7), command.awaitClose());

    var terminal =
        link.open(
            Json.object(
                "type",
                "exec",
                "command",
                "stty size",
                "pty",
                Json.object("term", "xterm", "columns", 99, "rows", 33, "modes", Json.object())));
    assertEquals("33 99\r\n", text(terminal));
    assertEquals(2, link.call("ports", Json.object("count", 2)).items("ports").size());
    assertTrue(link.call("facts", Json.object()).number("cpus").orElse(0L) > 0);
  }

  private static void resumes(Link link) throws Exception {
    var cat = link.open(Json.object("type", "exec", "stdin", true, "command", "cat"));
    var reply = new StringBuilder();
    for (int cut = 0; cut < 3; cut++) {
      String part = "part " + cut + "\n";
      cat.input().write(part.getBytes(StandardCharsets.UTF_8));
      cat.input().flush();
      link.renewPipe();
      reply.append(new String(cat.output(0).readNBytes(part.length()), StandardCharsets.UTF_8));
    }
    cat.input().close();
    assertEquals("part 0\npart 1\npart 2\n", reply.toString());
    assertEquals(Json.object("exit", 0), cat.awaitClose());
    assertTrue(link.state() instanceof LinkState.Up(_, var resumed) && resumed);
  }

  private static void filesAndRuns(SessionService gateway, Path project) throws Exception {
    Files.writeString(project.resolve("said.txt"), "from the laptop\n");
    assertEquals(List.of("from the laptop"), run(gateway, project, 0, "cat", "said.txt"));
    assertEquals(List.of(), run(gateway, project, 5, "sh", "-c", "exit 5"));
  }

  private static List<String> run(SessionService gateway, Path project, int status, String... words)
      throws Exception {
    RunView run = gateway.runs().launch(DEVBOX, Asked.run(project, words), Talk.silent());
    var lines = new ConcurrentLinkedQueue<String>();
    Optional<Integer> exit =
        gateway
            .runs()
            .follow(
                DEVBOX,
                run.number(),
                new LogRequest(Set.of(), true, Optional.empty()),
                new RunOutput() {
                  @Override
                  public void line(int node, int rank, boolean error, byte[] text) {
                    assertFalse(error);
                    lines.add(new String(text, StandardCharsets.UTF_8));
                  }

                  @Override
                  public void restarting(int node, RunFailure failure, int restart, int most) {}

                  @Override
                  public void event(int node, String text) {}
                });
    assertEquals(Optional.of(status), exit);
    return List.copyOf(lines);
  }

  private static String text(BlockingStream stream) throws IOException {
    return new String(stream.output(0).readAllBytes(), StandardCharsets.UTF_8);
  }
}
