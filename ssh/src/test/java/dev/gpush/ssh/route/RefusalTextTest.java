package dev.gpush.ssh.route;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.text.FailureSamples;
import dev.gpush.testkit.text.PlainEnglish;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

final class RefusalTextTest {
  @Test
  void anAgentCannotDriveTheTerminalOfAnSshClient() {
    Json.Obj reason = Json.object("code", "a\u009b31mb\u202ec\u001b[2Jd");

    RefusalText text = RefusalText.ofCode("devbox", "the command", reason);

    assertEquals("the agent on devbox answers: its answer was a 31mb c d", text.because());
  }

  @Test
  void factsAreWordsAndNotJson() {
    Json.Obj reason =
        Json.object("code", "no-space", "facts", Json.object("path", "/tmp", "errno", "ENOSPC"));

    RefusalText text = RefusalText.ofCode("devbox", "the command", reason);

    assertEquals(
        "the agent on devbox answers: its disk is full (path /tmp, errno ENOSPC)", text.because());
  }

  @Test
  void aFailureWithoutWordsOfItsOwnIsASentenceToo() {
    RefusalText text = RefusalText.of("devbox", new LaunchFailure.Lost(7, 1));

    assertEquals(
        "gpush: devbox cannot be used\n  because run 7 was lost on node 1\n  try: gpush doctor\n",
        text.lines());
  }

  @TestFactory
  List<DynamicTest> everyFailureIsThreeSentences() {
    var tests = new ArrayList<DynamicTest>();
    for (Class<?> record : FailureSamples.records()) {
      for (boolean full : List.of(true, false)) {
        tests.add(
            DynamicTest.dynamicTest(
                record.getSimpleName() + (full ? " full" : " empty"),
                () ->
                    PlainEnglish.checkSentence(
                        RefusalText.of("devbox", FailureSamples.of(record, full)).lines())));
      }
    }
    return tests;
  }
}
