package dev.gpush.ssh.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.Message;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SshMessagesTest {
  @Test
  void anAgentCannotDriveTheTerminalOfAnSshClient() {
    Json.Obj reason = Json.object("code", "a\u009b31mb\u202ec\u001b[2Jd");

    Message message = SshMessages.ofCode("devbox", "the command", reason);

    assertEquals(
        """
        gpush: the command was refused
          because the agent on devbox answers: its answer was a 31mb c d
          try: gpush nodes
        """,
        message.text());
  }

  @Test
  void factsAreWordsAndNotJson() {
    Json.Obj facts = Json.object("path", "/tmp", "errno", "ENOSPC");

    Message message =
        SshMessages.of("devbox", new AgentFailure.Refused("the command", "no-space", facts));

    assertEquals(
        "the command was refused, because the agent on devbox answers: its disk is full (path"
            + " /tmp, errno ENOSPC); try: gpush nodes",
        message.line());
  }

  @Test
  void aWrongNameIsCorrectedAsItWasTyped() {
    Message message =
        SshMessages.of(
            "devbx", new UsageFailure.UnknownSession("devbx", List.of("devbox"), List.of()));

    assertEquals("ssh devbox", message.remedy());
  }

  @Test
  void otherFailuresHaveTheSentencesOfTheirCommand() {
    assertEquals(
        "run 7 was lost on node 1, because its part there ended without a result; try: gpush"
            + " logs 7",
        SshMessages.of("devbox", new LaunchFailure.Lost(7, 1)).line());
  }
}
