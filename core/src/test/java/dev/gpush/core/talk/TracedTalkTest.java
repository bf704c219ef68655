package dev.gpush.core.talk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Trace.Phase;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.task.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class TracedTalkTest {
  private long nanos;

  private final Clock clock =
      new Clock() {
        @Override
        public Instant now() {
          return Instant.EPOCH;
        }

        @Override
        public long nanos() {
          return nanos;
        }
      };

  private final TracedTalk talk = new TracedTalk(Talk.silent(), clock);

  private void pass(int milliseconds) {
    nanos += Duration.ofMillis(milliseconds).toNanos();
  }

  private static Phase phase(Stage stage, int milliseconds, String what) {
    return new Phase(stage, Duration.ofMillis(milliseconds), what);
  }

  @Test
  void phasesAreMeasuredInTheirOrderAndTheRestIsKnown() {
    try (Talk.Step _ = talk.phase(Stage.PLAN, "asking slurm")) {
      pass(300);
    }
    pass(50);
    try (Talk.Step step = talk.phase(Stage.QUEUE, "reserving 2 nodes on slurm")) {
      step.detail("9 of 19");
      pass(35_000);
      step.detail("4 of 19");
    }

    Trace trace = talk.trace();
    Phase queue = phase(Stage.QUEUE, 35_000, "reserving 2 nodes on slurm: 4 of 19");
    assertEquals(
        new Trace(
            Duration.ofMillis(35_350), List.of(phase(Stage.PLAN, 300, "asking slurm"), queue)),
        trace);
    assertEquals(Optional.of(queue), trace.slowest());
    assertEquals(Duration.ofMillis(50), trace.rest());
  }

  @Test
  void theStepThatTookMostOfAPhaseSaysWhatTookTheTime() {
    try (Talk.Step _ = talk.phase(Stage.ENVIRONMENT, "making the environment")) {
      pass(100);
      try (Talk.Step step = talk.step("setup: pip install -r requirements.txt")) {
        step.detail("node 0: Collecting torch");
        pass(9000);
      }
      try (Talk.Step _ = talk.step("setup: true")) {
        pass(20);
      }
    }
    try (Talk.Step _ = talk.phase(Stage.WORKSPACE, "bringing files to the nodes")) {
      pass(100);
      try (Talk.Step _ = talk.step("looking at proj")) {
        pass(30);
      }
    }

    assertEquals(
        List.of(
            "setup: pip install -r requirements.txt: node 0: Collecting torch",
            "bringing files to the nodes"),
        talk.trace().phases().stream().map(Phase::what).toList());
  }

  @Test
  void eachMomentCountsForTheInnermostPhaseAndRetriesAreOne() {
    List<Phase> whole =
        List.of(
            phase(Stage.SESSION, 60, "getting a session"),
            phase(Stage.AGENTS, 14_000, "linking 3 nodes"));
    for (int attempt = 1; attempt <= 3; attempt++) {
      try (Talk.Step _ = talk.phase(Stage.SESSION, "getting a session")) {
        pass(10);
        try (Talk.Step _ = talk.phase(Stage.AGENTS, "linking " + attempt + " nodes")) {
          pass(1000 << attempt);
          if (attempt == 3) {
            assertEquals(50, talk.trace().phases().getFirst().took().toMillis());
            assertEquals(whole.getLast(), talk.trace().phases().getLast());
          }
        }
        pass(10);
      }
    }

    assertEquals(whole, talk.trace().phases());
  }

  @Test
  void aPhaseThatIsNotOverCountsUntilNow() {
    try (Talk.Step _ = talk.phase(Stage.AGENTS, "linking 2 nodes")) {
      pass(40_000);
      Trace trace = talk.trace();
      assertEquals(List.of(phase(Stage.AGENTS, 40_000, "linking 2 nodes")), trace.phases());
      assertEquals(Duration.ofSeconds(40), trace.took());
    }
  }

  @Test
  void aStepThatIsNotOverIsWhatItsPhaseWaitsFor() {
    try (Talk.Step _ = talk.phase(Stage.WORKSPACE, "bringing files to the nodes");
        Talk.Step step = talk.step("syncing 1200 files")) {
      pass(1000);
      step.detail("312 sent");
      assertEquals(
          List.of(phase(Stage.WORKSPACE, 1000, "syncing 1200 files: 312 sent")),
          talk.trace().phases());
      try (Talk.Step _ = talk.phase(Stage.SLOTS, "waiting for run 7")) {
        pass(500);
        assertEquals("waiting for run 7", talk.trace().phases().getLast().what());
      }
      step.detail("1200 sent");
      pass(9000);
    }

    assertEquals(
        "syncing 1200 files: 1200 sent", talk.trace().phase(Stage.WORKSPACE).orElseThrow().what());
  }

  @Test
  void theQueueOfAnEarlierGatewayCounts() {
    var resumed = new TracedTalk(Talk.silent(), clock, Duration.ofMinutes(10));
    try (Talk.Step _ = resumed.phase(Stage.QUEUE, "reserving")) {
      pass(5000);
    }

    Phase queue = resumed.trace().phases().getFirst();
    assertEquals(Duration.ofSeconds(605), queue.took());
    assertEquals(Duration.ofSeconds(605), resumed.trace().took());
  }

  @Test
  void aTraceIsReadAsItWasWrittenAndWhatIsUnknownIsLeftOut() {
    Trace trace =
        new Trace(
            Duration.ofMillis(1234),
            List.of(phase(Stage.RANKS, 1200, "token=hunter2 é\n"), phase(Stage.OUTPUT, 9, "")));

    assertEquals(trace, Trace.from(Json.parse(trace.json().write())));
    assertTrue(!trace.json().write().contains("hunter2"));
    Json newer = Json.parse("{\"took_ms\": 5, \"phases\": [{\"phase\": \"warp\", \"ms\": 5}]}");
    assertEquals(new Trace(Duration.ofMillis(5), List.of()), Trace.from(newer));
    assertEquals(Trace.none(), Trace.from(Json.object()));
  }
}
