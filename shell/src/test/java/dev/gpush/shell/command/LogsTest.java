package dev.gpush.shell.command;

import dev.gpush.core.gang.GpuRequest;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
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
        2>   because its supervisor ended without a result: it was killed, or the machine restarted
        2>   try: gpush logs 6
        ? 255
        """);
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
