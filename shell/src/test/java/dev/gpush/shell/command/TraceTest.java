package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.talk.Trace.Phase;
import dev.gpush.core.talk.Trace.Stage;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What commands say of how long a start took. */
final class TraceTest {
  private static final Trace OF_SESSION =
      new Trace(
          Duration.ofMillis(75_400),
          List.of(
              phase(Stage.PLAN, 300, "asking hpc"),
              phase(Stage.QUEUE, 72_000, "reserving 2 nodes on hpc: 4 of 19 · Priority"),
              phase(Stage.AGENTS, 2100, "linking 2 nodes")));

  private static final Trace OF_RUN =
      new Trace(
          Duration.ofMillis(4100),
          List.of(
              phase(Stage.WORKSPACE, 400, "looking at proj"),
              phase(Stage.RANKS, 500, "starting the ranks"),
              phase(Stage.OUTPUT, 3200, "waiting for what a rank prints first")));

  private final Desk desk = new Desk();

  private static Phase phase(Stage stage, int milliseconds, String what) {
    return new Phase(stage, Duration.ofMillis(milliseconds), what);
  }

  @Test
  void upAndRunShowThePhasesWhenAsked() {
    desk.sessions.trace = OF_SESSION;
    desk.runs.trace = OF_RUN;

    desk.expect(
        """
        $ gpush up --nodes 2 -v
        2> devbox: 2 cpu nodes on local in 0s; 1h idle
        2> PHASE   TIME   WHAT
        2> plan    0.3 s  asking hpc
        2> queue   1m12s  reserving 2 nodes on hpc: 4 of 19 · Priority
        2> agents  2.1 s  linking 2 nodes
        2> other   1.0 s  -
        2> total   1m15s  -
        2> next: gpush run train.py · gpush link, then ssh devbox
        $ gpush run -v train.py
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        2> PHASE      TIME   WHAT
        2> workspace  0.4 s  looking at proj
        2> ranks      0.5 s  starting the ranks
        2> output     3.2 s  waiting for what a rank prints first
        2> total      4.1 s  -
        [0] hello
        2> [1] warning
        2> the first output came after 3.2 s
        """);
  }

  @Test
  void aSessionThatWasThereIsNoStartAndQuietIsQuiet() {
    desk.sessions.trace = OF_SESSION;
    desk.runs.trace = OF_RUN;
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

    desk.expect(
        """
        $ gpush up --nodes 2 -v
        2> devbox is there: 2 cpu nodes on local, 12m old; 48m idle
        $ gpush run -q -v train.py
        [0] hello
        2> [1] warning
        """);
  }

  @Test
  void whatWasNotMeasuredIsNotShown() {
    desk.expect(
        """
        $ gpush up --nodes 2 -v
        2> devbox: 2 cpu nodes on local in 0s; 1h idle
        2> next: gpush run train.py · gpush link, then ssh devbox
        """);
  }

  @Test
  void whyNamesTheSlowestPhaseOfASlowStart() {
    desk.sessions.trace = OF_SESSION;
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(7, "done", Optional.of(0), "train.py");
    desk.runs.trace = OF_RUN;

    desk.expect(
        """
        $ gpush why devbox
        devbox is idle for 12m
          its nodes are given back in 48m if nothing uses them; an open connection does not count as use
          run 7 (train.py, 2 ranks, 1m) is done, 2m ago
          its start took 1m15s; the slowest phase, queue, took 1m12s: reserving 2 nodes on hpc: 4 of 19 · Priority
          try: gpush extend -s devbox keeps it for another idle time
               gpush down -s devbox gives it back now
        $ gpush why 7
        run 7 (train.py, 2 ranks, 1m) is done, 2m ago
          try: gpush logs 7
        """);
  }

  @Test
  void whySaysInWhichPhaseAStartIs() {
    desk.sessions.trace = OF_SESSION;
    SessionView devbox = desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    ViewChange starting = new ViewChange(devbox).starting();
    desk.sessions.change(starting.state(SessionState.GRANTED, "").view());

    desk.expect(
        """
        $ gpush why
        devbox has its nodes and is starting
          it has been starting for 1m15s; its phase now, agents, has taken 2.1 s: linking 2 nodes
          try: gpush nodes
        """);

    desk.sessions.change(starting.view());
    desk.expect(
        """
        $ gpush why
        devbox is idle for 12m
          its nodes are given back in 48m if nothing uses them; an open connection does not count as use
          it has been starting for 1m15s; its phase now, agents, has taken 2.1 s: linking 2 nodes
          try: gpush extend keeps it for another idle time
               gpush down gives it back now
        """);

    desk.sessions.change(starting.needsLogin("hpc").view());
    desk.expect(
        """
        $ gpush why
        devbox needs you. Nothing is lost
          it has been starting for 1m15s; its phase now, agents, has taken 2.1 s: linking 2 nodes
          try: gpush login hpc
        """);
  }

  @Test
  void whySaysOnceThatARequestWaits() {
    desk.sessions.trace = OF_SESSION;
    SessionView devbox = desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.sessions.change(new ViewChange(devbox).starting().queued("4 of 19").view());

    desk.expect(
        """
        $ gpush why
        devbox has waited for 2 cpu nodes on local for 12m: 4 of 19
          try: gpush up --dry-run says what smaller request would start, and when this one
               gpush down devbox cancels it
        """);
  }

  @Test
  void programsGetItInMilliseconds() {
    desk.sessions.trace = OF_SESSION;
    desk.runs.trace = OF_RUN;

    assertEquals(OF_SESSION, trace(out("gpush up --nodes 2 --json")));
    assertEquals(OF_SESSION, trace(out("gpush why devbox --json")));
    List<String> lines = out("gpush run -v --json train.py").lines().toList();
    Json first = Json.parse(lines.getFirst());
    assertEquals(Optional.of("trace"), first.text("type"));
    assertEquals(OF_RUN, Trace.from(first));
    assertTrue(lines.getLast().contains("\"end\""), lines.getLast());
  }

  private String out(String line) {
    FakeInvocation client = desk.client(line);
    assertEquals(0, desk.call(client), client.errText());
    return client.outText();
  }

  private static Trace trace(String document) {
    return Trace.from(Json.parse(document).object("trace"));
  }
}
