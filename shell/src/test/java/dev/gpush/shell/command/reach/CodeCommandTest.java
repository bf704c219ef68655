package dev.gpush.shell.command.reach;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.FakeInvocation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which program is started, with which words. */
final class CodeCommandTest {
  private final Desk desk = new Desk();

  @BeforeEach
  void begin() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
  }

  @Test
  void everyEditorHasItsOwnWords() {
    desk.expect(
        """
        $ gpush code --print
        code --remote ssh-remote+devbox /home/ann/gpush/devbox/proj
        $ gpush code --cursor --print src
        cursor --remote ssh-remote+devbox /home/ann/gpush/devbox/proj/src
        $ gpush code --windsurf --on 1 --print
        windsurf --remote ssh-remote+devbox-1 /home/ann/gpush/devbox-1/proj
        $ gpush code --zed --print "my notes"
        zed ssh://devbox/home/ann/gpush/devbox/proj/my%20notes
        $ gpush code --print /etc
        code --remote ssh-remote+devbox /etc
        """);
  }

  @Test
  void whatCannotBeIsRefused() {
    desk.expect(
        """
        $ gpush code --zed --cursor
        2> gpush: gpush code was not run
        2>   because it opens one editor; name one
        2>   try: gpush help code
        ? 2
        $ gpush code --print ../other
        2> gpush: gpush code was not run
        2>   because ../other is outside ~/proj
        2>   try: gpush help code
        ? 2
        $ gpush code --yes --cursor
        2> gpush: Cursor was not opened
        2>   because the command cursor is not on your PATH, and nothing here opens links
        2>   try: gpush code --print --yes --cursor
        ? 3
        """);
  }

  @Test
  void theEditorOnThePathIsStarted(@TempDir Path programs) throws Exception {
    Path code = programs.resolve("code");
    Files.writeString(code, "#!/bin/sh\n");
    assertEquals(true, code.toFile().setExecutable(true));
    desk.environment("PATH", "relative:" + programs);
    FakeInvocation client = desk.client("gpush code --yes");

    assertEquals(0, desk.call(client), client.errText());

    assertEquals(
        List.of(
            List.of(
                code.toString(), "--remote", "ssh-remote+devbox", "/home/ann/gpush/devbox/proj")),
        client.spawned());
  }

  @Test
  void withoutItsProgramTheDesktopOpensItsLink(@TempDir Path programs) throws Exception {
    Path opener = programs.resolve("xdg-open");
    Files.writeString(opener, "#!/bin/sh\n");
    assertEquals(true, opener.toFile().setExecutable(true));
    desk.environment("PATH", programs.toString());
    FakeInvocation client = desk.client("gpush code --yes 'a&b'");

    assertEquals(0, desk.call(client), client.errText());

    assertEquals(
        List.of(
            List.of(
                opener.toString(),
                "vscode://vscode-remote/ssh-remote+devbox/home/ann/gpush/devbox/proj/a%26b")),
        client.spawned());
  }
}
