package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.SessionState;
import java.nio.file.Path;
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
        """);
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
