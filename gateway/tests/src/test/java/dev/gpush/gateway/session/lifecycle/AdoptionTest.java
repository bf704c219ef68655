package dev.gpush.gateway.session.lifecycle;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.FakeTalk;
import dev.gpush.gateway.session.ForgottenTest;
import dev.gpush.gateway.session.GatewaySessions;
import dev.gpush.gateway.session.SessionRig;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A gang that another home has made, or that this one has forgotten, becomes a session here. */
@Execution(ExecutionMode.CONCURRENT)
final class AdoptionTest {
  private interface Command {
    void run() throws Exception;
  }

  private static Failure refusal(Command command) {
    return assertThrows(GpushException.class, command::run).failure();
  }

  private static SessionView adopt(GatewaySessions gateway, boolean take, Path project)
      throws InterruptedException {
    return gateway.adopt(Optional.empty(), take, project, Talk.silent());
  }

  @Test
  void theNextLaptopGoesOnAndReplacesNothingUnasked() throws Exception {
    try (var rig = SessionRig.calm()) {
      Path lost = rig.project("project");
      Files.writeString(lost.resolve("only_there.py"), "work of a week");
      GatewaySessions laptop = rig.gateway();
      SessionView made = laptop.up(ask(lost, 2), Talk.silent());
      laptop.close();
      Path project = rig.project("clone/project");
      Files.writeString(project.resolve("train.py"), "print('newer')\n");
      GatewaySessions next = rig.gateway(rig.path("desk"), "me@desk");

      var held =
          assertInstanceOf(
              SessionFailure.HeldElsewhere.class, refusal(() -> adopt(next, false, project)));
      assertEquals("me@here", held.holder());
      assertEquals(List.of(), next.list());

      SessionView adopted = adopt(next, true, project);
      assertEquals(SessionState.READY, adopted.state());
      assertEquals(made.place().gang(), adopted.place().gang());
      assertEquals(made.nodes().size(), adopted.nodes().size());
      assertEquals(project, adopted.root());

      var no = FakeTalk.answering(false);
      assertInstanceOf(UsageFailure.Declined.class, refusal(() -> next.sync(DEVBOX, false, no)));
      String question = no.lines().getLast();
      assertTrue(question.contains("train.py, only_there.py"), question);
      next.pull(DEVBOX, 0, "only_there.py", Talk.silent());
      assertEquals("work of a week", Files.readString(project.resolve("only_there.py")));

      var yes = FakeTalk.answering(true);
      next.sync(DEVBOX, false, yes);
      assertTrue(
          yes.lines().stream().anyMatch(line -> line.contains("1 file that is different here")),
          yes.lines()::toString);
      Files.delete(project.resolve("only_there.py"));
      // From here on its files are what is here: asked for once is enough.
      next.sync(DEVBOX, false, no);

      assertEquals(List.of(), next.down(DEVBOX, true, Talk.silent()).kept());
      assertEquals(List.of(), rig.held());
    }
  }

  /** The next extend replaced it by that of the configuration. */
  @Test
  void theIdleTimeOfTheNodesStays() throws Exception {
    try (var rig = SessionRig.calm()) {
      UpRequest asked = ask(rig.project("project"));
      var lease = new UpRequest.Lease(Optional.empty(), Optional.of(Duration.ofHours(8)));
      GatewaySessions laptop = rig.gateway();
      laptop.up(asked.leased(lease), Talk.silent());
      laptop.close();
      GatewaySessions next = rig.gateway(rig.path("desk"), "me@desk");

      adopt(next, true, rig.project("clone/project"));

      assertEquals(Duration.ofHours(8), next.find(DEVBOX).entry().lease().idle());
    }
  }

  @Test
  void whoeverIsStillAtWorkIsTold() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions laptop = rig.gateway();
      laptop.up(ask(rig.project("project"), 2), Talk.silent());
      GatewaySessions next = rig.gateway(rig.path("desk"), "me@desk");

      adopt(next, true, rig.project("clone/project"));

      until(
          "the first one looks on",
          () -> laptop.list().getFirst().detail().startsWith("held by me@desk; gpush up"));
      next.close();
      GatewaySessions again = rig.gateway(rig.path("desk"), "me@desk");
      again.recover();
      SessionRig.awaitSettled(again);
      assertEquals(List.of(SessionState.READY), SessionRig.states(again));
    }
  }

  /** The first laptop ended the gang, with its runs, when its gateway was started again. */
  @Test
  void aReleaseThatFailedIsNotFinishedOnceAnotherHomeHasTheGang() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions laptop = rig.gateway();
      laptop.up(ask(rig.project("project"), 2), Talk.silent());
      rig.trouble().fail(Operation.RELEASE, Moment.BEFORE);
      assertInstanceOf(
          BackendFailure.NotReleased.class,
          refusal(() -> laptop.down(DEVBOX, true, Talk.silent())));
      laptop.close();
      GatewaySessions next = rig.gateway(rig.path("desk"), "me@desk");
      adopt(next, true, rig.project("clone/project"));

      GatewaySessions again = rig.gateway();
      again.recover();

      until(
          "it looks on",
          () ->
              again.list().stream()
                  .anyMatch(view -> view.detail().startsWith("held by me@desk; gpush up")));
      assertEquals(List.of(SessionState.READY), SessionRig.states(next));
      next.down(DEVBOX, true, Talk.silent());
      until("it is gone there, too", () -> again.list().isEmpty());
    }
  }

  @Test
  void aLostLedgerLosesNoWork() throws Exception {
    try (var rig = SessionRig.calm()) {
      Path project = rig.project("project");
      GatewaySessions before = rig.gateway();
      SessionView made = before.up(ask(project, 2), Talk.silent());
      before.close();
      ForgottenTest.loseLedger(rig);
      GatewaySessions after = rig.gateway();
      after.recover();

      SessionView adopted = adopt(after, false, project);

      assertEquals(made.place().gang(), adopted.place().gang());
      // It is the same here as there: nobody needs to be asked.
      after.sync(DEVBOX, false, FakeTalk.answering(false));
      assertEquals(1, rig.held().size());
    }
  }

  @Test
  void whatIsMeantMustBeClearAndWhole() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions laptop = rig.gateway();
      GatewaySessions next = rig.gateway(rig.path("desk"), "me@desk");
      Path project = rig.project("clone/project");
      var none =
          assertInstanceOf(UsageFailure.WhichGang.class, refusal(() -> adopt(next, true, project)));
      assertEquals(List.of(), none.there());

      laptop.up(ask(rig.project("one"), 1), Talk.silent());
      SessionView two = laptop.up(ask(rig.project("two"), 1), Talk.silent());
      laptop.close();

      var which =
          assertInstanceOf(UsageFailure.WhichGang.class, refusal(() -> adopt(next, true, project)));
      assertEquals(2, which.there().size());
      String gang = rig.gang(two).text();
      SessionView adopted = next.adopt(Optional.of(gang), true, project, Talk.silent());
      assertEquals(two.name(), adopted.name());
    }
  }
}
