package dev.gpush.shell.command;

import static dev.gpush.shell.why.WhyFixture.inCode;
import static dev.gpush.shell.why.WhyFixture.loading;
import static dev.gpush.shell.why.WhyFixture.node;
import static dev.gpush.shell.why.WhyFixture.unseen;
import static dev.gpush.shell.why.WhyFixture.waiting;
import static dev.gpush.shell.why.WhyFixture.with;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.session.Outlook;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.EndedRequest;
import dev.gpush.core.talk.Trace;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

final class WhyCommandTest {
  private final Desk desk = new Desk();
  private final SessionView devbox =
      desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

  private void hanging() {
    desk.runs.readings.add(List.of());
    desk.runs.stacks =
        List.of(
            node(0, 660, waiting(0, "all_reduce", "train.py", 42)),
            node(1, 660, inCode(1, "load_batch", "data.py", 17)));
  }

  @Test
  void ofTheNewestRunInProgressTheOddRankIsNamed() {
    desk.runs.add(8, "running", Optional.empty(), "train.py");
    desk.runs.add(7, "running", Optional.empty(), "eval.py");
    hanging();

    desk.expect(
        """
        $ gpush why
        run 8 (train.py, 2 ranks, 3m) stands still: rank 0 waits in all_reduce at train.py:42; rank 1 is in load_batch at data.py:17. A collective waits until all ranks of its group call it
          it has printed nothing for 11m
          rank 0 (node 0, pid 100): asleep, 0% of a processor
            all_reduce (torch/distributed/distributed_c10d.py:81)
            wrapper (torch/distributed/c10d_logger.py:81)
            step (train.py:42)
          rank 1 (node 1, pid 101): asleep, 0% of a processor
            Event.wait (threading.py:81)
            load_batch (data.py:17)
          run 7 is in progress, too: gpush why 7
          try: compare train.py:42 with data.py:17: which ranks are expected there?
               gpush logs 8 --rank 1
               gpush stop 8
        """);
    assertEquals(List.of("devbox PT0.5S", "closed"), desk.runs.sampled);
  }

  @Test
  void aRunThatFailedIsExplainedByItsFirstRankAndItsLastLines() {
    desk.runs.add(7, "failed", Optional.of(1), "train.py");
    desk.runs.verdict = Optional.of(failure());
    desk.runs.output =
        output -> {
          for (int line = 0; line < 20; line++) {
            output.line(1, 1, true, ("  line " + line).getBytes(StandardCharsets.UTF_8));
          }
        };

    FakeInvocation client = desk.client("gpush why");
    assertEquals(0, desk.call(client), client.errText());
    List<String> lines = client.outText().lines().toList();
    assertEquals(
        "run 7 (train.py, 2 ranks, 1m) failed with exit status 1, 2m ago: rank 1 (lab2) failed"
            + " first: KeyError: 'x'",
        lines.getFirst());
    assertEquals(List.of("  it printed last:", "      line 8"), lines.subList(1, 3));
    assertEquals(List.of("      line 19", "  try: gpush logs 7 --rank 1"), lines.subList(13, 15));
    assertEquals(1, desk.runs.asks.size());
    assertEquals(Set.of(1), desk.runs.asks.getFirst().ranks());
    assertEquals(
        Optional.of(Duration.ofMinutes(10).plusSeconds(108)), desk.runs.asks.getFirst().since());
  }

  private static RunFailure failure() {
    return new RunFailure(
        1,
        new RunFailure.Where(1, "lab2", true, Optional.empty()),
        Optional.of(1),
        Optional.empty(),
        Json.object("code", "exception", "type", "KeyError", "message", "'x'"),
        List.of(),
        List.of());
  }

  @Test
  void whatNothingRunsOnIsIdle() {
    desk.runs.add(7, "done", Optional.of(0), "train.py");
    desk.sessions.change(new ViewChange(devbox).costs(39.84, Duration.ofMinutes(50)).view());

    desk.expect(
        """
        $ gpush why devbox
        devbox is idle for 12m
          its nodes are given back in 48m if nothing uses them; an open connection does not count as use
          it costs 39.84 an hour, 33.20 so far
          run 7 (train.py, 2 ranks, 1m) is done, 2m ago
          try: gpush extend -s devbox keeps it for another idle time
               gpush down -s devbox gives it back now
        $ gpush why 7
        run 7 (train.py, 2 ranks, 1m) is done, 2m ago
          try: gpush logs 7
        """);
  }

  @Test
  void ranksThatWereStartedByHandAreFound() {
    desk.runs.readings.add(List.of());
    desk.runs.byHand = List.of(node(0, 0, waiting(0, "barrier", "t.py", 3)));

    FakeInvocation client = desk.client("gpush why");
    assertEquals(0, desk.call(client), client.errText());
    assertTrue(
        client
            .outText()
            .startsWith(
                "the rank that was started by hand did not move for 1.1s: its rank waits in"
                    + " barrier at t.py:3\n"),
        client.outText());
  }

  @Test
  void aSessionWithoutNodesSaysWhatItWaitsFor() {
    desk.sessions.change(new ViewChange(devbox).queued("4 of 19" + Desk.WAITS).view());

    desk.expect(
        """
        $ gpush why
        devbox has waited for 2 cpu nodes on local for 12m: 4 of 19 · ≈14:20 · jobs of higher priority come first · slurm job 4711
          try: gpush up --dry-run says what smaller request would start, and when this one
               gpush down devbox cancels it
        """);

    for (SessionState state : SessionState.values()) {
      desk.sessions.change(new ViewChange(devbox).state(state, "because").view());
      FakeInvocation client = desk.client("gpush why --json");
      assertEquals(0, desk.call(client), client.errText());
      assertTrue(!Json.parse(client.outText()).text("verdict").orElseThrow().isEmpty());
    }
  }

  @Test
  void aRequestThatWaitsIsToldWhatWouldBeGrantedNow() {
    desk.sessions.change(new ViewChange(devbox).queued("room for 1 of 2 nodes").view());
    desk.sessions.smaller = Map.of("rig", new Outlook.Smaller(1, GpuRequest.parse("H100:8")));

    desk.expect(
        """
        $ gpush why
        devbox has waited for 2 cpu nodes on local for 12m: room for 1 of 2 nodes
          rig would grant --nodes 1 --gpus H100:8 now
          try: gpush up --dry-run says when this one could start
               gpush down devbox, then gpush up --nodes 1 --gpus H100:8
               gpush down devbox cancels it
        """);
    assertEquals(
        Optional.of("devbox"),
        desk.sessions.asked.getFirst().name().map(SessionName::text),
        "of its own request");
  }

  @Test
  void whoIsAheadOfARequestThatWaitsIsSaid() {
    desk.sessions.change(new ViewChange(devbox).queued("4 of 19").view());
    List<String> who = List.of("2 of ann (8 GPUs)", "1 of bob (16 GPUs, held by its own limit)");
    desk.sessions.ahead = Map.of("hpc", new JobsAhead("partition gpu", 3, who, false));

    desk.expect(
        """
        $ gpush why
        devbox has waited for 2 cpu nodes on local for 12m: 4 of 19
          3 jobs are ahead of it in partition gpu: 2 of ann (8 GPUs), 1 of bob (16 GPUs, held by its own limit)
          try: gpush up --dry-run says what smaller request would start, and when this one
               gpush down devbox cancels it
        """);

    FakeInvocation client = desk.client("gpush why --json");
    assertEquals(0, desk.call(client), client.errText());
    assertEquals(
        List.of(
            Json.object(
                "backend",
                "hpc",
                "queue",
                "partition gpu",
                "jobs",
                3,
                "who",
                who,
                "others_hidden",
                false)),
        Json.parse(client.outText()).items("ahead"));
  }

  @Test
  void howManyAreAheadIsSaidOfEachQueueAndWhatIsHiddenToo() {
    desk.sessions.change(new ViewChange(devbox).queued("waits").view());
    assertAhead(
        "no job is ahead of it in partition gpu",
        Map.of("hpc", new JobsAhead("partition gpu", 0, List.of(), false)));
    assertAhead(
        "1 job that you can see is ahead of it in partition gpu: 1 of yours (8 GPUs); the site may"
            + " hide jobs of other users",
        Map.of("hpc", new JobsAhead("partition gpu", 1, List.of("1 of yours (8 GPUs)"), true)));
    var both = new LinkedHashMap<String, JobsAhead>();
    both.put("hpc", new JobsAhead("partition gpu", 2, List.of("2 of ann"), false));
    both.put("cw", new JobsAhead("the cluster queue of team", 0, List.of(), false));
    assertAhead("on hpc, 2 jobs are ahead of it in partition gpu: 2 of ann", both);
    assertAhead("on cw, no job is ahead of it in the cluster queue of team", both);
  }

  private void assertAhead(String line, Map<String, JobsAhead> ahead) {
    desk.sessions.ahead = ahead;
    FakeInvocation client = desk.client("gpush why");
    assertEquals(0, desk.call(client), client.errText());
    assertTrue(client.outText().contains("  " + line + "\n"), client.outText());
  }

  /** A cluster that does not answer keeps the answer no longer than this. */
  @Test
  void backendsThatAreSilentAreNotWaitedFor() {
    var hasty = new Desk(Duration.ofMillis(1));
    SessionView waiting = hasty.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    hasty.sessions.change(new ViewChange(waiting).queued("room for 1 of 2 nodes").view());
    hasty.sessions.smaller = Map.of("rig", new Outlook.Smaller(1, GpuRequest.parse("H100:8")));
    hasty.sessions.planning =
        () -> {
          new CountDownLatch(1).await();
          return true;
        };

    FakeInvocation client = hasty.client("gpush why");
    assertEquals(0, hasty.call(client), client.errText());
    assertTrue(client.outText().contains("room for 1 of 2 nodes"), client.outText());
    assertTrue(!client.outText().contains("would grant"), client.outText());
    assertEquals(List.of(), hasty.bugs);
  }

  @Test
  void whatUsesItAndWhatItNeedsIsSaid() {
    SessionView.Lease lease =
        new SessionView.Lease(
            Optional.of(Duration.ofHours(5)),
            Optional.empty(),
            "busy: python x.py uses CPU",
            List.of());
    desk.sessions.change(new ViewChange(devbox).with(lease).view());
    desk.expect(
        """
        $ gpush why
        devbox has no run in progress, but is busy: python x.py uses CPU
          its nodes are given back in 5h in any case
          try: gpush top
        """);

    SessionView.Status status =
        new SessionView.Status(
            SessionState.READY, "Duo for hpc", Optional.of("hpc"), false, Trace.none());
    desk.sessions.change(new ViewChange(devbox).with(status).view());
    desk.expect(
        """
        $ gpush why
        devbox needs you: Duo for hpc. Nothing is lost
          try: gpush login hpc
        """);
  }

  @Test
  void aLoginThatIsNeededComesBeforeARunInProgress() {
    desk.runs.add(7, "running", Optional.empty(), "train.py");
    hanging();
    SessionView.Status status =
        new SessionView.Status(
            SessionState.DEGRADED, "Duo for hpc", Optional.of("hpc"), false, Trace.none());
    desk.sessions.change(new ViewChange(devbox).with(status).view());

    desk.expect(
        """
        $ gpush why
        devbox needs you: Duo for hpc. Nothing is lost
          try: gpush login hpc
        $ gpush why 7
        devbox needs you: Duo for hpc. Nothing is lost
          try: gpush login hpc
        """);
  }

  @Test
  void aRunWhoseEndIsNotKnownDoesNotHideTheSession() {
    desk.runs.add(7, "unknown", Optional.empty(), "train.py");

    desk.expect(
        """
        $ gpush why 7
        run 7 (train.py, 2 ranks, 3m) has an end that is not known: the link to a node ended before it
          try: gpush logs 7
        """);
    assertTrue(answer("gpush why").startsWith("devbox is idle for 12m\n"));
  }

  @Test
  void aRunThatFailedLongAgoDoesNotHideTheSession() {
    desk.runs.add(7, "failed", Optional.of(1), "train.py");
    desk.runs.verdict = Optional.of(failure());
    assertTrue(answer("gpush why").startsWith("run 7 (train.py, 2 ranks, 1m) failed"));

    desk.clock.advance(Duration.ofMinutes(59));
    assertTrue(answer("gpush why").startsWith("devbox is idle for 12m\n"));
    assertTrue(answer("gpush why 7").startsWith("run 7 (train.py, 2 ranks, 1m) failed"));
  }

  private String answer(String line) {
    FakeInvocation client = desk.client(line);
    assertEquals(0, desk.call(client), client.errText());
    return client.outText();
  }

  @Test
  void aRequestThatFailedIsExplainedWhereNoSessionIs() {
    desk.sessions.all.clear();
    desk.sessions.ended.add(
        new EndedRequest(
            new SessionName("devbox"),
            desk.clock.now().minus(Duration.ofMinutes(3)),
            "hpc refuses 9 nodes"));

    desk.expect(
        """
        $ gpush why
        devbox, requested 3m ago, failed: hpc refuses 9 nodes
          try: gpush up
               gpush up --dry-run says where it could start
        """);
    FakeInvocation other = desk.client("gpush why other");
    assertEquals(2, desk.call(other), other.errText());
    assertTrue(other.errText().contains("other"), other.errText());
  }

  @Test
  void everyFieldOfItsJsonIsDocumented() throws Exception {
    desk.runs.add(7, "running", Optional.empty(), "train.py");
    desk.runs.readings.add(List.of());
    Json worker = Json.object("pid", 5, "frames", List.of());
    desk.runs.stacks =
        List.of(
            node(
                0,
                1,
                with(loading(0), "workers", Json.array(List.of(worker))),
                unseen(1, "S", 0, "denied", "no")));
    FakeInvocation client = desk.client("gpush why 7 --json");

    assertEquals(0, desk.call(client), client.errText());
    String page = Files.readString(Path.of("../docs/reference/json.md"));
    page = page.substring(page.indexOf("gpush why"));
    var missing = new ArrayList<String>();
    TopCommandTest.names(Json.parse(client.outText()), page, missing);
    assertEquals(List.of(), missing);
  }

  @Test
  void runsAndSessionsAreCompleted() {
    desk.runs.add(7, "running", Optional.empty(), "train.py");

    FakeInvocation client = desk.client("gpush __complete why ''");
    assertEquals(0, desk.call(client), client.errText());
    assertTrue(client.outText().contains("7"), client.outText());
    assertTrue(client.outText().contains("devbox"), client.outText());
  }
}
