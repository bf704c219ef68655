package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.run.LogRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The output of a run as logs shows it, and the exit status. */
final class LogsTest {
  private final Desk desk = new Desk();

  @Test
  void logsShowsWhatThereIs() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(6, "failed", Optional.of(3), "train.py");

    desk.expect(
        """
        $ gpush logs 6
        [0] hello
        2> [1] warning
        $ gpush logs -f
        [0] hello
        2> [1] warning
        $ gpush logs 9
        2> gpush: devbox has no run '9'
        2>   because it has 6
        2>   try: gpush runs -s devbox
        ? 255
        $ gpush logs six
        2> gpush: devbox has no run 'six'
        2>   because it has 6
        2>   try: gpush runs -s devbox
        ? 255
        """);
  }

  @Test
  void logsEndsAsTheRunDid() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(6, "failed", Optional.of(3), "train.py");
    desk.runs.exit = Optional.of(3);
    desk.expect(
        """
        $ gpush logs 6
        [0] hello
        2> [1] warning
        ? 3
        $ gpush logs -f 6
        [0] hello
        2> [1] warning
        ? 3
        """);
    desk.runs.exit = Optional.empty();
    desk.expect(
        """
        $ gpush logs 6
        [0] hello
        2> [1] warning
        $ gpush logs -f 6
        [0] hello
        2> [1] warning
        2> gpush: run 6 was lost on node 0
        2>   because its part there ended without a result
        2>   try: gpush logs 6
        ? 255
        """);
  }

  @Test
  void logsGivesWhatIsAskedFor() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(6, "running", Optional.empty(), "train.py");
    desk.expect(
        """
        $ gpush logs 6 --rank 1 --since 10m
        [0] hello
        2> [1] warning
        $ gpush logs 6 --since soon
        2> gpush: --since cannot be 'soon'
        2>   because it must be numbers with units, largest first: 90s, 30m, 2h, 1d12h; at most 3650d
        2>   try: gpush help logs
        ? 255
        """);
    assertEquals(
        List.of(new LogRequest(Set.of(1), false, Optional.of(Duration.ofMinutes(10)))),
        desk.runs.asks);
  }

  @Test
  void logsAreFetchedIntoTheWorkspace() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(6, "failed", Optional.of(3), "train.py");
    desk.expect(
        """
        $ gpush logs 6 --fetch
        2> fetched 12 MB of output of run 6 into ~/proj/.gpush/logs/devbox-6-20261121T095700Z
        $ gpush logs 6 --fetch --rank 1
        2> gpush: gpush logs was not run
        2>   because --fetch brings all output that is there, of all ranks
        2>   try: gpush help logs
        ? 255
        """);
    assertEquals(
        List.of(Desk.PROJECT.resolve(".gpush/logs/devbox-6-20261121T095700Z")), desk.runs.fetched);
  }

  @Test
  void onATerminalLinesThatAreAlikeAreOne() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(6, "running", Optional.empty(), "train.py");
    desk.runs.output =
        output -> {
          output.line(0, 0, false, "hello".getBytes(StandardCharsets.UTF_8));
          output.line(1, 1, false, "hello".getBytes(StandardCharsets.UTF_8));
        };
    FakeInvocation folded = desk.client("gpush logs 6").withTerminal(80);
    FakeInvocation whole = desk.client("gpush logs 6 --all-ranks").withTerminal(80);

    desk.call(folded);
    desk.call(whole);

    assertEquals("[all 2] hello\n", folded.both());
    assertEquals("[0] hello\n[1] hello\n", whole.both());
  }

  @Test
  void logsAsJsonIsALineForEachLine() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(6, "failed", Optional.of(3), "train.py");
    desk.runs.exit = Optional.of(3);
    desk.runs.output =
        output -> {
          output.line(0, 0, false, new byte[] {'h', 'i', (byte) 0xff});
          output.line(1, 1, true, "warning".getBytes(StandardCharsets.UTF_8));
          output.event(1, "rank 1 ended with 3");
        };

    desk.expect(
        """
        $ gpush logs --json 6
        {"type":"line","node":0,"rank":0,"stream":"out","text":"hi\uFFFD"}
        {"type":"line","node":1,"rank":1,"stream":"err","text":"warning"}
        {"type":"event","node":1,"text":"rank 1 ended with 3"}
        {"type":"end","run":6,"state":"failed","exit":3,"failure":null}
        ? 3
        """);
  }
}
