package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.discarding;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Two homes that know the same session: one has it, the other looks on, and nobody fights. */
public final class TwoGatewaysTest {
  @Test
  void whoComesLaterLooksOnUntilSomebodyWantsItThere() throws Exception {
    try (var rig = SessionRig.calm()) {
      Path project = rig.project("project");
      GatewaySessions laptop = rig.gateway();
      laptop.up(ask(project, 2), Talk.silent());
      Path desk = copyOfHome(rig, "desk");

      GatewaySessions other = rig.gateway(desk, "me@desk");
      other.recover();
      until("it is refused", () -> isDegraded(other));

      looksOn(other, project, "me@here");
      assertEquals(SessionState.READY, laptop.list().getFirst().state());

      SessionView taken = other.up(ask(project, 2), Talk.silent());

      assertEquals(SessionState.READY, taken.state());
      until("the first one is told", () -> isDegraded(laptop));
      looksOn(laptop, project, "me@desk");

      // Also a new gateway of the first home does not take it back by itself.
      laptop.close();
      GatewaySessions again = rig.gateway();
      again.recover();
      until("the new one is refused", () -> isDegraded(again));
      looksOn(again, project, "me@desk");
      assertEquals(SessionState.READY, other.list().getFirst().state());

      again.up(ask(project, 2), Talk.silent());
      until("the second one is told", () -> isDegraded(other));
      assertEquals(List.of(), again.down(DEVBOX, true, Talk.silent()).kept());
      until("who looks on sees that it is gone", () -> other.list().isEmpty());
    }
  }

  /** It counted as what this home had sent, and was replaced without a question. */
  @Test
  void takingASessionBackAsksBeforeItReplacesWhatTheOtherHasSent() throws Exception {
    try (var rig = SessionRig.calm()) {
      Path project = rig.project("project");
      GatewaySessions laptop = rig.gateway();
      laptop.up(ask(project), Talk.silent());
      GatewaySessions other = rig.gateway(copyOfHome(rig, "desk"), "me@desk");
      other.recover();
      until("it is refused", () -> isDegraded(other));
      other.up(ask(project), Talk.silent());
      Files.writeString(project.resolve("train.py"), "print('of the desk')\n");
      other.sync(DEVBOX, false, Talk.silent());
      until("the first one is told", () -> isDegraded(laptop));
      Files.writeString(project.resolve("train.py"), "print('hello')\n");

      var asked = assertThrows(GpushException.class, () -> laptop.up(ask(project), Talk.silent()));

      var question = assertInstanceOf(UsageFailure.NobodyToAsk.class, asked.failure());
      assertTrue(question.question().contains("train.py"), question.question());
      Path there = Path.of(laptop.list().getFirst().nodes().getFirst().info().workspace());
      assertEquals("print('of the desk')\n", Files.readString(there.resolve("train.py")));
    }
  }

  private static boolean isDegraded(GatewaySessions gateway) {
    SessionView view = gateway.list().getFirst();
    return view.state() == SessionState.DEGRADED && view.detail().startsWith("held by");
  }

  private static void looksOn(GatewaySessions gateway, Path project, String holder) {
    SessionView view = gateway.list().getFirst();
    assertEquals(SessionState.DEGRADED, view.state());
    assertEquals("held by " + holder + "; gpush up takes it over", view.detail());
    assertTrue(
        gateway.doctor().stream().anyMatch(each -> each.detail().contains(holder)),
        () -> gateway.doctor().toString());
    for (var command :
        List.<Command>of(
            () -> gateway.sync(DEVBOX, false, Talk.silent()),
            () -> gateway.down(DEVBOX, true, Talk.silent()),
            () -> gateway.up(discarding(ask(project, 1)), Talk.silent()))) {
      var refused = assertThrows(GpushException.class, command::run);
      var failure = assertInstanceOf(AgentFailure.Superseded.class, refused.failure());
      assertEquals(holder, failure.holder());
    }
  }

  private interface Command {
    void run() throws InterruptedException;
  }

  public static Path copyOfHome(SessionRig rig, String name) throws Exception {
    Path copy = rig.path(name);
    try (var files = Files.walk(rig.home())) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(rig.home().relativize(file).toString()));
      }
    }
    return copy;
  }
}
