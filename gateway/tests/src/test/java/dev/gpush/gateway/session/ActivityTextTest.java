package dev.gpush.gateway.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ActivityTextTest {
  private static Json.Obj status(double idleSeconds, boolean isBusy, String why) {
    return Json.object("idle_for_s", idleSeconds, "busy", isBusy, "idle_because", why);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0    | true  | run 7                          | busy: run 7 | run 7",
        "0    | true  | python train.py uses CPU | busy: python train.py uses CPU | python train.py"
            + " uses CPU",
        "3    | false | keys in a terminal | active: keys in a terminal | keys in a terminal",
        "2400 | false | keys in a terminal | idle for 40m, since keys in a terminal | idle 40m",
        "7260 | false | run 7 | idle for 2h1m, since run 7 | idle 2h1m",
        "5    | false | python train.py uses CPU on node 1 | idle for 5s, since python train.py"
            + " used CPU on node 1 | idle 5s",
        "90   | false | attached | idle for 2m, since its start | idle 2m",
        "90   | false | renewed | idle for 2m, since gpush extend | idle 2m",
      })
  void oneNode(double seconds, boolean isBusy, String why, String session, String node) {
    Json status = status(seconds, isBusy, why);

    assertEquals(session, ActivityText.ofSession(status));
    assertEquals(node, ActivityText.ofNode(status, 0));
  }

  @Test
  void whoIsConnectedIsNamedOnlyWhileItIsSilent() {
    Json.Obj silent =
        status(2400, false, "files").with("clients", List.of("VS Code", "a terminal"));

    assertEquals(
        "idle for 40m, since files; VS Code and a terminal are connected and silent",
        ActivityText.ofSession(silent));
    assertEquals(
        "idle for 40m, since files; ssh is connected and silent",
        ActivityText.ofSession(silent.with("clients", List.of("ssh"))));
    assertEquals("active: files", ActivityText.ofSession(silent.with("idle_for_s", 2)));
  }

  @Test
  void nodesOfAGangHaveTheirOwnNumbersAndOneList() {
    Json nodes =
        Json.object(
            "0", Json.object("idle_for_s", 2400, "busy", false, "why", "files"),
            "1",
                Json.object(
                    "idle_for_s",
                    600,
                    "busy",
                    false,
                    "why",
                    "a command",
                    "clients",
                    List.of("JetBrains")));
    Json.Obj status =
        status(600, false, "a command on node 1")
            .with("nodes_idle", nodes)
            .with("clients", List.of("VS Code"));

    assertEquals(
        "idle for 10m, since a command on node 1; VS Code and JetBrains are connected and silent",
        ActivityText.ofSession(status));
    assertEquals("idle 40m", ActivityText.ofNode(status, 0));
    assertEquals("idle 10m", ActivityText.ofNode(status, 1));
    assertEquals("", ActivityText.ofNode(status, 2));
  }

  @Test
  void anAgentThatDoesNotSayIsNotGuessedAbout() {
    Json status = Json.object("idle_because", "run 1", "idle_left_s", 12);

    assertEquals("", ActivityText.ofSession(status));
    assertEquals("", ActivityText.ofNode(status, 0));
  }

  @Test
  void textsOfNodesAreCleaned() {
    Json status = status(0, true, "a\u001b[2Jb uses CPU");

    assertEquals(-1, ActivityText.ofSession(status).indexOf('\u001b'));
    assertEquals(-1, ActivityText.ofNode(status, 0).indexOf('\u001b'));
  }
}
