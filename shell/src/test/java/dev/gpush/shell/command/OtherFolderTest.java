package dev.gpush.shell.command;

import dev.gpush.core.gang.GpuRequest;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * The only session there is, taken from a folder that has none: commands say that they take it, and
 * what ends something asks.
 */
final class OtherFolderTest {
  private final Desk desk = new Desk();

  @Test
  void downAsksWhenTheSessionIsOfAnotherFolder() {
    desk.sessions.add("big", Path.of("/home/ann/other"), 1, GpuRequest.none());

    desk.expect(
        """
        $ gpush down
        2> gpush: this needs your answer, and there is no terminal to ask on
        2>   because the question is: give back big, which belongs to ~/other?
        2>   try: gpush down -s big
        ? 2
        $ gpush down --yes
        2> gpush: this needs your answer, and there is no terminal to ask on
        2>   because the question is: give back big, which belongs to ~/other?
        2>   try: gpush down -s big --yes
        ? 2
        """);
    desk.expect(
        """
        $ gpush down
        ?> give back big, which belongs to ~/other? [y/N] n
        2> gpush: stopped; nothing was changed
        2>   because you answered no to: give back big, which belongs to ~/other?
        2>   try: gpush down
        ? 2
        """,
        "n");
    desk.expect(
        """
        $ gpush down big
        2> big is given back
        """);
  }

  @Test
  void stopAsksWhenTheSessionIsOfAnotherFolder() {
    desk.sessions.add("big", Path.of("/home/ann/other"), 1, GpuRequest.none());
    desk.runs.add(7, "running", Optional.empty(), "train.py");

    desk.expect(
        """
        $ gpush stop 7 --yes
        2> gpush: this needs your answer, and there is no terminal to ask on
        2>   because the question is: stop run 7 of big, which belongs to ~/other?
        2>   try: gpush stop -s big 7 --yes
        ? 2
        """);
    desk.expect(
        """
        $ gpush stop
        ?> stop the run of big, which belongs to ~/other? [y/N] y
        2> run 7 is stopped (130)
        $ gpush stop 7 -s big
        2> run 7 is stopped (130)
        """,
        "y");
  }

  @Test
  void theOnlySessionThereIsIsNamedWhenItIsOfAnotherFolder() {
    desk.sessions.add("big", Path.of("/home/ann/other"), 1, GpuRequest.none());

    desk.expect(
        """
        $ gpush sync
        2> using big of ~/other, the only session there is
        2> big has G43 on all nodes
        $ gpush sync
        2> using big of ~/other, the only session there is
        2> big has G43 on all nodes
        $ gpush sync -s big
        2> big has G43 on all nodes
        """);
    desk.folder = Path.of("/home/ann/other");
    desk.expect(
        """
        $ gpush sync
        2> big has G43 on all nodes
        """);
  }

  @Test
  void anInteractiveShellIsToldOnceWhichSessionItTakes() {
    desk.sessions.add("big", Path.of("/home/ann/other"), 1, GpuRequest.none());
    desk.environment.put("GPUSH_SHELL", "4711");

    desk.expect(
        """
        $ gpush __wake
        $ gpush sync
        2> using big of ~/other, the only session there is
        2> big has G43 on all nodes
        $ gpush sync
        2> big has G43 on all nodes
        """);
    desk.folder = Path.of("/home/ann");
    desk.expect(
        """
        $ gpush sync
        2> using big of ~/other, the only session there is
        2> big has G43 on all nodes
        """);
    desk.environment.put("GPUSH_SHELL", "4712");
    desk.expect(
        """
        $ gpush sync
        2> using big of ~/other, the only session there is
        2> big has G43 on all nodes
        """);
    desk.environment.put("GPUSH_SHELL", "4711");
    desk.expect(
        """
        $ gpush __wake
        $ gpush sync
        2> using big of ~/other, the only session there is
        2> big has G43 on all nodes
        """);
  }
}
