package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How {@code gpush gateway page} starts a browser. */
final class GatewayPageTest {
  private final Desk desk = new Desk();

  /** Other users see each command line. */
  @Test
  void theTokenIsInNoCommandLine(@TempDir Path programs) throws Exception {
    Path opener = Files.writeString(programs.resolve("xdg-open"), "#!/bin/sh\n");
    assertTrue(opener.toFile().setExecutable(true));
    desk.environment("PATH", programs.toString());
    desk.environment("DISPLAY", ":0");
    FakeInvocation client = desk.client("gpush gateway page");

    assertEquals(0, desk.call(client), client.errText());

    assertEquals(
        List.of(List.of(opener.toString(), "file:///home/ann/.gpush/page.html")), client.spawned());
    assertEquals(
        """
        http://127.0.0.1:4711/?token=51a0f3
        2> if your browser cannot read /home/ann/.gpush/page.html, open the address; it works once
        """,
        client.both());
  }
}
