package dev.gpush.shell.command.reach;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.shell.command.Desk;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A word at the prompt that is no command of gpush. */
final class UnknownWordTest {
  private final Desk desk = new Desk();

  @Test
  void aProgramIsOfferedOnNode0AndHere() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.environment("GPUSH_SHELL", "4711");
    desk.environment("PATH", "/usr/bin:/bin");

    desk.expect(
        """
        $ gpush tool -L
        2> gpush: there is no command 'tool'
        2>   because a program runs on node 0 with @0 in front, and here with !
        2>   try: @0 tool -L
        ? 2
        $ gpush ls '$2>90'
        2> gpush: there is no command 'ls'
        2>   because a program runs on node 0 with @0 in front, and here with !
        2>   try: @0 ls …
        ? 2
        $ gpush rnu train.py
        2> gpush: there is no command 'rnu'; did you mean run?
        2>   because a program runs on node 0 with @0 in front, and here with !
        2>   try: gpush run train.py
        ? 2
        """);
    assertEquals(List.of(), desk.runs.execs);
  }

  @Test
  void outsideTheShellItIsUnknown() {
    desk.expect(
        """
        $ gpush tool -L
        2> gpush: there is no command 'tool'
        2>   because no command has a similar name
        2>   try: gpush help
        ? 2
        $ gpush rnu train.py
        2> gpush: there is no command 'rnu'; did you mean run?
        2>   because no command has that name
        2>   try: gpush run train.py
        ? 2
        """);
  }
}
