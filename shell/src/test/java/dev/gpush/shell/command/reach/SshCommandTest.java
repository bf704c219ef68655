package dev.gpush.shell.command.reach;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.SessionView;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.FakeInvocation;
import dev.gpush.shell.command.ViewChange;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What {@code gpush ssh} starts, and what it refuses. */
final class SshCommandTest {
  private final Desk desk = new Desk();

  @Test
  void sshIsStartedByTheClient() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

    assertEquals("ssh -F /home/ann/.gpush/ssh_config devbox", spawned("gpush ssh"));
    assertEquals("ssh -F /home/ann/.gpush/ssh_config devbox-1", spawned("gpush ssh --on 1"));
    assertEquals(
        "ssh -F /home/ann/.gpush/ssh_config devbox-1 ls -l", spawned("gpush ssh devbox-1 ls -l"));
    assertEquals(
        "ssh -F /home/ann/.gpush/ssh_config devbox nvidia-smi", spawned("gpush ssh nvidia-smi"));
  }

  @Test
  void sshReachesOneNodeAtATime() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

    desk.expect(
        """
        $ gpush ssh all nvidia-smi -L
        2> gpush: gpush ssh was not run
        2>   because ssh reaches one node at a time
        2>   try: gpush exec --all nvidia-smi -L
        ? 255
        $ gpush ssh --on all
        2> gpush: gpush ssh was not run
        2>   because ssh reaches one node at a time
        2>   try: gpush exec --all hostname
        ? 255
        """);
  }

  @Test
  void aSessionThatWaitsHasNoNodeToName() {
    SessionView session = desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.sessions.change(new ViewChange(session).queued("place 3").view());

    for (String line : List.of("pull --on 0 a.txt", "ssh", "code --on 1", "jupyter --on 5")) {
      FakeInvocation client = desk.client("gpush " + line);
      assertNotEquals(0, desk.call(client), line);
      assertTrue(client.errText().contains("devbox has no nodes yet"), client.errText());
    }
  }

  private String spawned(String line) {
    FakeInvocation client = desk.client(line);
    client.spawnStatus(9);
    assertEquals(9, desk.call(client));
    return String.join(" ", client.spawned().getFirst());
  }
}
