package dev.gpush.shell.command.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.FakeInvocation;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs whose session is given back afterwards. */
final class RunDownTest {
  private final Desk desk = new Desk();

  @Test
  void downGivesBackAfterwardsAndKeepsTheStatus() {
    desk.runs.exit = Optional.of(3);

    desk.expect(
        """
        $ gpush run --down train.py
        2> made devbox (1 cpu node on local); it is given back after this run
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        [0] hello
        2> [1] warning
        2> devbox is given back
        ? 3
        """);
    assertEquals(List.of("down devbox"), desk.sessions.calls);
  }

  /** Of one that may go on, as when no node can be asked, the session stays. */
  @ParameterizedTest
  @CsvSource({"lost,devbox is given back", "unknown,devbox stays; gpush down gives it back"})
  void downGivesBackAfterARunThatWasLost(String state, String said) {
    desk.runs.exit = Optional.empty();
    desk.runs.output =
        _ -> {
          desk.runs.all.clear();
          desk.runs.add(7, state, Optional.empty(), "train.py");
        };

    desk.expect(
        """
        $ gpush run --down train.py
        2> made devbox (1 cpu node on local); it is given back after this run
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        2> %s
        2> gpush: run 7 was lost on node 0
        2>   because its part there ended without a result
        2>   try: gpush logs 7
        ? 255
        """
            .formatted(said));
  }

  /** HUP: the terminal was closed, and TERM may be a machine that shuts down. */
  @ParameterizedTest
  @CsvSource({
    "INT,devbox is given back",
    "TERM,devbox stays; gpush down gives it back",
    "HUP,devbox stays; gpush down gives it back"
  })
  void downGivesBackWhatItMadeWhenControlCComesBeforeTheRun(String signal, String said) {
    FakeInvocation client = desk.client("gpush run --down train.py");
    desk.runs.launching = () -> client.signal(signal);

    assertEquals(130, desk.call(client));

    assertEquals(
        """
        2> made devbox (1 cpu node on local); it is given back after this run
        2> %s
        """
            .formatted(said),
        client.both());
  }

  @Test
  void controlCAgainWhileTheStartIsUndoneGivesBackAllTheSame() {
    FakeInvocation client = desk.client("gpush run --down train.py");
    desk.runs.launching = () -> client.signal("INT");
    desk.runs.undoing = () -> client.signal("INT");

    assertEquals(130, desk.call(client));

    assertEquals(List.of("down devbox"), desk.sessions.calls);
  }

  @Test
  void controlCWhileTheSessionIsGivenBackSaysThatItIsNot() {
    FakeInvocation client = desk.client("gpush run --down train.py");
    desk.sessions.goingDown = () -> client.signal("INT");

    assertEquals(130, desk.call(client));

    String said = client.errText();
    assertTrue(said.endsWith("devbox is not given back yet; gpush down gives it back\n"), said);
    assertFalse(said.contains("devbox stays"), said);
  }

  /** The reader has ended, and nothing is known of the run. */
  @Test
  void downSaysThatTheSessionStaysWhenTheFollowingFails() {
    desk.runs.output =
        _ -> {
          throw new GpushException(new AgentFailure.LinkOver(1, "it was cut"));
        };

    desk.expect(
        """
        $ gpush run --down train.py
        2> made devbox (1 cpu node on local); it is given back after this run
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        2> devbox stays; gpush down gives it back
        2> gpush: the link to node 1 ended
        2>   because it was cut
        2>   try: gpush nodes
        ? 255
        """);
  }

  @Test
  void downSaysThatTheSessionStaysWhenItsTerminalCloses() throws Exception {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
    FakeInvocation client = desk.client("gpush run --down train.py");
    var running = CompletableFuture.supplyAsync(() -> desk.call(client));
    desk.runs.followed.await();

    client.signal("HUP");

    assertEquals(130, running.get());
    String said = client.errText();
    assertTrue(said.endsWith("devbox stays; gpush down gives it back\n"), said);
  }

  @Test
  void aFailureToGiveBackDoesNotHideTheStatus() {
    desk.sessions.questionOnDown = Optional.of("discard?");
    desk.runs.exit = Optional.of(3);

    desk.expect(
        """
        $ gpush run -q --down train.py
        [0] hello
        2> [1] warning
        2> gpush: this needs your answer, and there is no terminal to ask on
        2>   because the question is: discard?
        2>   try: gpush down --discard -s devbox
        ? 3
        """);
  }
}
