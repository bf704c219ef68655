package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions.Finding;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Gangs that are there and in no ledger: what doctor says of them, and what it may end. */
@Execution(ExecutionMode.CONCURRENT)
public final class ForgottenTest {
  public static void loseLedger(SessionRig rig) throws Exception {
    try (var files = Files.walk(rig.home().resolve("ledger"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Files.delete(file);
      }
    }
  }

  private static Finding gang(GatewaySessions gateway) {
    return gateway.doctor().stream()
        .filter(finding -> finding.what().startsWith("gang "))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void whatThisHomeAloneCouldRenewIsEndedWhenItIsAskedFor() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions before = rig.gateway();
      before.up(ask(rig.project("project"), 2), Talk.silent());
      before.close();
      loseLedger(rig);
      GatewaySessions after = rig.gateway();
      after.recover();

      Finding found = gang(after);
      List<Finding> ended = after.endForgotten(FakeTalk.answering(true));

      assertEquals("bad", found.status());
      assertEquals(Optional.of("gpush adopt devbox"), found.remedy());
      assertEquals(List.of("ok"), ended.stream().map(Finding::status).toList());
      assertEquals(List.of(), rig.held());
      assertEquals(List.of(), after.endForgotten(Talk.silent()));
    }
  }

  /** As after a look at the wrong place: the session counts as ended, and its gang goes on. */
  @Test
  void whatLivesAlthoughItsSessionEndedIsListedAndEnded() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions before = rig.gateway();
      before.up(ask(rig.project("project"), 2), Talk.silent());
      before.close();
      LedgerEntry entry = rig.ledger().load().getFirst();
      rig.ledger().put(entry.in(SessionState.RELEASED, "its job no longer exists"));
      GatewaySessions after = rig.gateway();
      after.recover();

      Finding found = after.doctor().getFirst();
      List<Finding> ended = after.endForgotten(FakeTalk.answering(true));

      assertEquals("bad", found.status());
      assertTrue(found.detail().startsWith("still held on "), found.detail());
      assertEquals(Optional.of("gpush adopt devbox"), found.remedy());
      assertEquals(List.of("ok"), ended.stream().map(Finding::status).toList());
      assertEquals(List.of(), rig.held());
    }
  }

  @Test
  void whatAnotherHomeHoldsIsListedAndNeverEnded() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions laptop = rig.gateway();
      laptop.up(ask(rig.project("project"), 2), Talk.silent());
      GatewaySessions other = rig.gateway(rig.path("desk"), "me@desk");

      Finding found = gang(other);

      assertEquals("warn", found.status());
      assertEquals(
          "session devbox of me@here is not in this ledger; it ends when its lease does",
          found.detail());
      assertEquals(Optional.of("gpush adopt devbox --take"), found.remedy());
      assertEquals(List.of(), other.endForgotten(Talk.silent()));
      assertEquals(1, rig.held().size());
    }
  }

  @Test
  void whatIsInTheLedgerIsNotForgotten() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions gateway = rig.gateway();
      gateway.up(ask(rig.project("project"), 2), Talk.silent());

      assertEquals(List.of(), gateway.endForgotten(Talk.silent()));
      assertEquals(1, rig.held().size());
    }
  }

  @Test
  void anAnswerIsForOneGang() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions before = rig.gateway();
      before.up(ask(rig.project("project"), 1), Talk.silent());
      before.up(ask(rig.project("other"), 1), Talk.silent());
      before.close();
      loseLedger(rig);
      GatewaySessions after = rig.gateway();
      after.recover();
      var first = new AtomicBoolean();

      List<Finding> findings = after.endForgotten(FakeTalk.answering(_ -> first.getAndSet(true)));

      assertEquals(List.of("warn", "ok"), findings.stream().map(Finding::status).toList());
      assertEquals(1, rig.held().size());
    }
  }
}
