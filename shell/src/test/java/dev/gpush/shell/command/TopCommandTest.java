package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.sample.NodeReading;
import dev.gpush.shell.top.TopFixture;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class TopCommandTest {
  private static final Json FIRST =
      ((Json.Obj) TopFixture.node(List.of(), List.of()))
          .with("cpu", Json.object("percent", new Json.Null(), "count", 8));

  private final Desk desk = new Desk();

  TopCommandTest() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(7, "running", Optional.empty(), "train.py");
  }

  private static NodeReading reading(Json said) {
    return TopFixture.reading(0, Optional.of(said), Duration.ZERO, "up", "");
  }

  private void samples(Json... said) {
    for (Json each : said) {
      desk.runs.readings.add(List.of(reading(each)));
    }
  }

  @Test
  void oncePrintsAPictureWithRatesAndEnds() {
    samples(FIRST, TopFixture.node(List.of(), List.of()));

    desk.expect(
        """
        $ gpush top --once
        RUN STATE   RANKS NODES AGE COMMAND
          7 running     2 0,1    3m train.py
        NODE HOST  CPU    MEMORY FREE DISK NET IN  OUT RDMA IN   OUT
           0 gpu00 34% 212G/1.0T      1.2T   1.2M 300k   24.1G 24.0G
        """);
    assertEquals(List.of("devbox PT0.5S", "closed"), desk.runs.sampled);
  }

  @Test
  void withoutATerminalItPrintsOnePicture() {
    samples(TopFixture.node(List.of(), List.of()));
    FakeInvocation client = desk.client("gpush top --node 0 --interval 2 --sort util");

    assertEquals(0, desk.call(client), client.errText());
    assertTrue(client.outText().startsWith("node 0  gpu00  10.0.0.0\n"), client.outText());
    assertEquals(List.of("devbox node 0 PT2S", "closed"), desk.runs.sampled);
  }

  @Test
  void theScreenIsDrawnUntilQIsTyped() {
    samples(TopFixture.node(List.of(), List.of()));
    FakeInvocation client = desk.client("gpush top").withTerminal(60).typing("q");

    assertEquals(0, desk.call(client), client.errText());
    assertEquals(List.of("raw", "restored"), client.raw);
    assertEquals(List.of("devbox PT1S", "closed"), desk.runs.sampled);
    // The last row is free for the prompt, and nothing was changed that would have to be restored.
    assertTrue(client.outText().endsWith("\u001b[24;1H\u001b[2K"), client.outText());
    assertFalse(client.outText().contains("\u001b[?"), client.outText());
  }

  @Test
  void ctrlCIsAnInterruptAndKeysBeforeItAreObeyed() {
    FakeInvocation client = desk.client("gpush top").withTerminal(60).typing("/q\rs\u0003");

    assertEquals(130, desk.call(client), client.errText());
    assertEquals(List.of("raw", "restored"), client.raw);
  }

  @Test
  void aSessionThatEndsEndsItWithItsReason() {
    desk.runs.failure = Optional.of(new SessionFailure.Gone("devbox", "idle for 1h"));
    FakeInvocation client = desk.client("gpush top").withTerminal(60);

    assertEquals(1, desk.call(client));
    assertTrue(client.errText().contains("idle for 1h"), client.errText());
  }

  @Test
  void badValuesAreNamed() {
    for (String bad :
        List.of("--sort heat", "--interval 0", "--interval 1h", "--interval 9999", "--node x")) {
      FakeInvocation client = desk.client("gpush top " + bad);

      assertEquals(2, desk.call(client), bad);
      assertTrue(client.errText().contains(bad.split(" ")[1]), client.errText());
    }
    assertEquals(List.of(), desk.runs.sampled);
  }

  @Test
  void everyFieldOfItsJsonIsDocumented() throws Exception {
    Json gpu =
        Json.object("gpu", "0", "name", "H100", "throttled", List.of("power-cap"), "problem", "");
    Json rank = Json.object("rank", 0, "pid", 1, "state", "T", "cpu", 1.0, "memory", 1);
    samples(TopFixture.node(List.of(gpu), List.of(rank)));
    FakeInvocation client = desk.client("gpush top --once --json");

    assertEquals(0, desk.call(client), client.errText());
    String page = Files.readString(Path.of("../docs/reference/json.md"));
    page = page.substring(page.indexOf("gpush top"));
    var missing = new ArrayList<String>();
    names(Json.parse(client.outText()), page, missing);
    assertEquals(List.of(), missing);
  }

  static void names(Json value, String page, List<String> missing) {
    value.items().forEach(item -> names(item, page, missing));
    value
        .entries()
        .forEach(
            (name, each) -> {
              if (!page.contains("`" + name + "`")) {
                missing.add(name);
              }
              names(each, page, missing);
            });
  }
}
