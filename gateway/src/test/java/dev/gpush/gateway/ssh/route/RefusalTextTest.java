package dev.gpush.gateway.ssh.route;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import org.junit.jupiter.api.Test;

final class RefusalTextTest {
  @Test
  void anAgentCannotDriveTheTerminalOfAnSshClient() {
    Json.Obj reason = Json.object("code", "a\u009b31mb\u202ec\u001b[2Jd");

    RefusalText text = RefusalText.ofCode("devbox", "the command", reason);

    assertEquals("the agent on devbox says a 31mb c d", text.because());
  }
}
