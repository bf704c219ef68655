package dev.gpush.shell.command.reach;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.SessionView;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.ViewChange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A word at the prompt that is no command of gpush. */
final class UnknownWordTest {
  private static final String NOWHERE =
      """
      $ gpush tool -L
      2> gpush: there is no command 'tool'
      2>   because no command has a similar name
      2>   try: gpush help
      ? 2
      """;

  private static final String HERE =
      """
      $ gpush tool -L
      2> gpush: there is no command 'tool'
      2>   because it is a program on this machine
      2>   try: !tool -L
      ? 2
      """;

  @TempDir Path programs;

  private Desk desk = new Desk();

  private SessionView session() {
    return desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
  }

  private void atThePrompt() {
    desk.environment("GPUSH_SHELL", "4711");
  }

  private void here() throws IOException {
    Files.createFile(
        programs.resolve("tool"),
        PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    desk.environment("PATH", programs.toString());
  }

  @Test
  void aProgramOnNode0IsOfferedThere() throws IOException {
    session();
    atThePrompt();
    here();

    desk.expect(
        """
        $ gpush tool -L
        2> gpush: there is no command 'tool'
        2>   because it is a program on node 0
        2>   try: @0 tool -L
        ? 2
        $ gpush ls '$2>90'
        2> gpush: there is no command 'ls'; did you mean ps?
        2>   because it is a program on node 0
        2>   try: @0 ls …
        ? 2
        $ gpush ls /home/ann/data
        2> gpush: there is no command 'ls'; did you mean ps?
        2>   because it is a program on node 0
        2>   try: @0 ls …
        ? 2
        """);
    assertEquals(
        "devbox 0 [/bin/sh, -c, command -v -- \"$1\", sh, tool]", desk.runs.execs.getFirst());
  }

  @Test
  void aProgramOnlyHereIsOfferedHere() throws IOException {
    atThePrompt();
    here();
    desk.expect(HERE);

    session();
    desk.runs.execStatus = 127;
    desk.expect(HERE);
  }

  @Test
  void aWordThatIsNowhereIsUnknown() {
    session();
    atThePrompt();
    desk.runs.execStatus = 127;

    desk.expect(NOWHERE);
    desk.expect(
        """
        $ gpush rnu train.py
        2> gpush: there is no command 'rnu'; did you mean run?
        2>   because no command has that name
        2>   try: gpush run train.py
        ? 2
        """);
  }

  @Test
  void nothingIsAskedOfASessionThatIsNotReady() {
    atThePrompt();
    desk.sessions.change(new ViewChange(session()).queued("place 3").view());

    desk.expect(NOWHERE);
    assertEquals(List.of(), desk.runs.execs);
  }

  @Test
  void nothingIsAskedOutsideTheShell() throws IOException {
    session();
    here();

    desk.expect(NOWHERE);
    assertEquals(List.of(), desk.runs.execs);
  }

  @Test
  void aNodeThatDoesNotAnswerHoldsUpNothing() {
    desk = new Desk(Duration.ofMillis(1));
    session();
    atThePrompt();
    desk.runs.untilExecuted = Optional.of(new CountDownLatch(1));

    desk.expect(NOWHERE);
    assertEquals(List.of(), desk.bugs);
  }
}
