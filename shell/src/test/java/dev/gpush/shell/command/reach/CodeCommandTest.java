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
        $ gpush code --jetbrains --print
        jetbrains-gateway 'jetbrains-gateway://connect#type=ssh&deploy=false&host=devbox&user=devbox&projectPath=%2Fhome%2Fann%2Fgpush%2Fdevbox%2Fproj'
        $ gpush code --print /etc
        code --remote ssh-remote+devbox /etc
        """);
  }

  @Test
  void itOpensWherePeopleEdit() {
    desk.sessions.editNode = 1;

    desk.expect(
        """
        $ gpush code --print
        code --remote ssh-remote+devbox-1 /home/ann/gpush/devbox-1/proj
        $ gpush code --on 0 --print
        code --remote ssh-remote+devbox /home/ann/gpush/devbox/proj
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

  private String program(Path folder, String name) throws Exception {
    Path program = Files.writeString(folder.resolve(name), "#!/bin/sh\n");
    assertEquals(true, program.toFile().setExecutable(true));
    desk.environment("PATH", "relative:" + folder);
    return program.toString();
  }

  private void starts(String command, String... line) {
    FakeInvocation client = desk.client(command);

    assertEquals(0, desk.call(client), client.errText());

    assertEquals(List.of(List.of(line)), client.spawned());
  }

  @Test
  void theEditorOnThePathIsStarted(@TempDir Path programs) throws Exception {
    String code = program(programs, "code");

    starts(
        "gpush code --yes", code, "--remote", "ssh-remote+devbox", "/home/ann/gpush/devbox/proj");
  }

  @Test
  void zedHasAnotherNameOnSomeSystems(@TempDir Path programs) throws Exception {
    String zed = program(programs, "zeditor");

    starts("gpush code --yes --zed", zed, "ssh://devbox/home/ann/gpush/devbox/proj");
  }

  /** A machine that is reached by ssh has the programs of a desktop, too. */
  @Test
  void withoutAScreenNothingIsOpened(@TempDir Path programs) throws Exception {
    program(programs, "open");
    program(programs, "xdg-open");

    desk.expect(
        """
        $ gpush code --yes
        2> gpush: VS Code was not opened
        2>   because the command code is not on your PATH, and nothing here opens links
        2>   try: gpush code --print --yes
        ? 3
        """);
  }

  @Test
  void withoutItsProgramTheDesktopOpensItsLink(@TempDir Path programs) throws Exception {
    String opener = program(programs, "xdg-open");
    desk.environment("DISPLAY", ":0");
    starts(
        "gpush code --yes 'a&b'",
        opener,
        "vscode://vscode-remote/ssh-remote+devbox/home/ann/gpush/devbox/proj/a%26b");
    starts(
        "gpush code --yes --cursor",
        opener,
        "cursor://vscode-remote/ssh-remote+devbox/home/ann/gpush/devbox/proj");
    starts("gpush code --yes --zed", opener, "zed://ssh/devbox/home/ann/gpush/devbox/proj");
    starts(
        "gpush code --yes --jetbrains",
        opener,
        "jetbrains://gateway/ssh/environment?h=devbox&launchIde=true&ideHint=PY"
            + "&projectHint=%2Fhome%2Fann%2Fgpush%2Fdevbox%2Fproj");
  }
}
