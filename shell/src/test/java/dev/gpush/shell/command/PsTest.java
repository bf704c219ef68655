package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.RunTransport;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.SyncView;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Sessions that wait, or of which something is not known, as ps and nodes show them. */
final class PsTest {
  private final Desk desk = new Desk();

  @Test
  void psSaysWhoMustLogInWhereAndWhatWaits() {
    desk.sessions.change(
        new ViewChange(desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none()))
            .state(SessionState.DEGRADED, "node 0 needs you: gpush login rack")
            .needsLogin("rack")
            .view());
    desk.sessions.change(
        new ViewChange(
                desk.sessions.add(
                    "big", Path.of("/data/exp"), 4, new GpuRequest(Optional.empty(), 8)))
            .state(SessionState.QUEUED, "4 of 19")
            .asking(4)
            .view());

    desk.expect(
        """
        $ gpush ps
        NAME    BACKEND  SHAPE        STATE      AGE  LEASE     RUNS  FOLDER
        devbox  local    2 cpu nodes  needs you  12m  48m idle  -     ~/proj
        big     local    4×8 GPU      queued     12m  48m idle  -     /data/exp
        2> devbox is degraded: node 0 needs you: gpush login rack
        2> big is queued for 12m: 4 of 19
        2> devbox: idle for 12m
        """);
  }

  @Test
  void interpretersForWarmStartsAreNamed() {
    desk.sessions.change(
        new ViewChange(desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none()))
            .warm(
                List.of(
                    new SessionView.WarmInterpreter("train.py", true, 562L << 20),
                    new SessionView.WarmInterpreter("eval.py", false, 70L << 20)))
            .view());

    desk.expect(
        """
        $ gpush ps
        NAME    BACKEND  SHAPE        STATE  AGE  LEASE     RUNS  FOLDER
        devbox  local    2 cpu nodes  ready  12m  48m idle  -     ~/proj
        2> devbox: idle for 12m
        2> devbox: an interpreter for warm starts of train.py on each node, 562 MiB
        2> devbox: an interpreter for warm starts of eval.py is importing on each node, 70 MiB
        """);
  }

  @Test
  void filesThatAreOnTheirWayAreNamedAndThePromptHasSignsOrWords() {
    desk.sessions.change(
        new ViewChange(desk.sessions.add("devbox", Desk.PROJECT, 1, GpuRequest.none()))
            .hardEnd(Optional.of(Duration.ofHours(5)))
            .sync(
                new SyncView(
                    SyncView.Mode.LIVE,
                    false,
                    Optional.of(42L),
                    List.of(new SyncView.Node(0, Optional.of(42L), "")),
                    0,
                    List.of("a.py"),
                    SyncView.Incoming.COMING,
                    List.of(),
                    List.of(),
                    "",
                    SyncView.Versions.none(),
                    ""))
            .view());

    desk.expect(
        """
        $ gpush ps
        NAME    BACKEND  SHAPE       STATE  AGE  LEASE         RUNS  FOLDER
        devbox  local    1 cpu node  ready  12m  5h, 48m idle  -     ~/proj
        2> devbox: idle for 12m
        2> devbox is not synced; all nodes have G42; 1 file on the way to the nodes; changes on node 0 on the way here
        $ gpush __prompt
        devbox 1 cpu node - 5h left - 1 outgoing incoming >\s
        """);
    desk.environment("LANG", "C.UTF-8");
    FakeInvocation prompt = desk.client("gpush __prompt");
    assertEquals(0, desk.call(prompt));
    assertTrue(prompt.outText().contains(" · ↑1 ↓ > "), prompt.outText());
  }

  @Test
  void networksOfRunsInProgressAreNamed() {
    desk.sessions.change(
        new ViewChange(desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none()))
            .runs(1)
            .view());
    desk.runs.add(7, "running", Optional.empty(), "train.py");
    desk.runs.add(6, "failed", Optional.of(3), "train.py");
    desk.runs.transport =
        Optional.of(
            new RunTransport(
                "TCP over eth0",
                "400G InfiniBand is there",
                "",
                "",
                new RunTransport.Evidence("counters", false, "")));

    desk.expect(
        """
        $ gpush ps
        NAME    BACKEND  SHAPE        STATE  AGE  LEASE     RUNS  FOLDER
        devbox  local    2 cpu nodes  ready  12m  48m idle  1     ~/proj
        2> devbox: idle for 12m
        2> devbox, run 7: TCP over eth0, although 400G InfiniBand is there
        $ gpush runs
        RUN  STATE    EXIT  RANKS  STARTED  TOOK   CODE  COMMAND   NETWORK
        7    running  -     2      3m ago   3m     G42   train.py  TCP over eth0
        6    failed   3     2      3m ago   1m12s  G42   train.py  TCP over eth0
        """);
    FakeInvocation client = desk.client("gpush runs --json");
    assertEquals(0, desk.call(client));
    String text = client.outText();
    assertTrue(text.contains("\"although\": \"400G InfiniBand is there\""), text);
    assertTrue(text.contains("\"because\": null"), text);
  }

  @Test
  void aGenerationThatNobodyKnowsIsNotZero() {
    desk.sessions.change(
        new ViewChange(desk.sessions.add("devbox", Desk.PROJECT, 1, GpuRequest.none()))
            .unknownGeneration()
            .view());

    FakeInvocation client = desk.client("gpush ps --json");
    assertEquals(0, desk.call(client));
    assertTrue(client.outText().contains("\"generation\": null"), client.outText());
    FakeInvocation nodes = desk.client("gpush nodes");
    assertEquals(0, desk.call(nodes));
    assertTrue(nodes.outText().lines().toList().get(1).contains(" ? "), nodes.outText());
  }
}
