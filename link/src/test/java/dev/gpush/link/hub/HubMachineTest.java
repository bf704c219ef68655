package dev.gpush.link.hub;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.machine.ProcessPipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.SteadyClock;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.fake.ChildPipe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A hub on this machine. */
final class HubMachineTest {
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private final Tasks tasks = Tasks.named("hub-test", (_, bug) -> bug.printStackTrace());
  private final SecureRandom random = new SecureRandom();
  private final ConcurrentLinkedQueue<ProcessPipe> pipes = new ConcurrentLinkedQueue<>();
  private final HubMachine hub = hub(Duration.ofSeconds(20));

  private HubMachine hub(Duration leave) {
    // Patient: a pipe that is silent for a while on a loaded machine is not replaced.
    return new HubMachine(
        new Here(),
        new AgentImage(tasks, random),
        "test",
        leave,
        LinkTiming.usual().withContact(Duration.ofDays(1)),
        tasks,
        new SteadyClock(),
        random);
  }

  private final class Here implements Machine {
    @Override
    public String name() {
      return "here";
    }

    @Override
    public Pipe spawn(List<String> arguments) throws IOException {
      ProcessPipe pipe = ChildPipe.start(arguments);
      pipes.add(pipe);
      return pipe;
    }
  }

  @AfterEach
  void end() {
    hub.close();
    tasks.close();
  }

  private Inquiry.Answer ask(Machine machine, String script, String input) throws Exception {
    return new Inquiry(machine, tasks).ask(List.of("/bin/sh", "-c", script), input, LIMIT);
  }

  @Test
  void manyCommandsAreOnePipe() throws Exception {
    var cats = new ArrayList<Pipe>();
    for (int i = 0; i < 20; i++) {
      cats.add(hub.spawn(List.of("cat")));
    }
    for (int i = 0; i < 20; i++) {
      try (Pipe cat = cats.get(i)) {
        String text = "command " + i;
        cat.input().write(text.getBytes(StandardCharsets.UTF_8));
        cat.input().close();
        assertEquals(text, new String(cat.output().readAllBytes(), StandardCharsets.UTF_8));
        assertEquals(0, cat.await());
      }
    }
    assertEquals(1, pipes.size());
  }

  @Test
  void aCommandIsWhatItWouldBeThere() throws Exception {
    Inquiry.Answer answer = ask(hub, "cat; echo no >&2; exit 7", "yes");
    assertEquals(new Inquiry.Answer(7, "yes", "no\n"), answer);
    Inquiry.Answer missing = new Inquiry(hub, tasks).ask(List.of("no-such-program"), "", LIMIT);
    assertEquals(127, missing.status());
    assertTrue(missing.errors().contains("no-such-program"), missing::errors);
  }

  @Test
  void aCutPipeCostsNothing() throws Exception {
    try (Pipe cat = hub.spawn(List.of("cat"))) {
      cat.input().write("before ".getBytes(StandardCharsets.UTF_8));
      cat.input().flush();
      assertEquals("before ", new String(cat.output().readNBytes(7), StandardCharsets.UTF_8));

      pipes.peek().process().destroyForcibly().waitFor();
      cat.input().write("after".getBytes(StandardCharsets.UTF_8));
      cat.input().close();

      assertEquals("after", new String(cat.output().readAllBytes(), StandardCharsets.UTF_8));
    }
    assertEquals(2, pipes.size());
  }

  @Test
  @Tag("link")
  void whoeverClosesAPipeEndsItsCommandAndTheHubLeavesAfterItsLink() throws Exception {
    HubMachine brief = hub(Duration.ofSeconds(1));
    long agent = Long.parseLong(ask(brief, "echo $PPID", "").output().strip());
    Pipe sleep = brief.spawn(List.of("sh", "-c", "echo $$; exec sleep 600"));
    var pid = new StringBuilder();
    for (int next = sleep.output().read(); next != '\n'; next = sleep.output().read()) {
      pid.append((char) next);
    }

    sleep.close();
    awaitEnd(Long.parseLong(pid.toString()));
    assertTrue(ProcessHandle.of(agent).isPresent());
    brief.close();
    awaitEnd(agent);

    assertThrows(IOException.class, () -> brief.spawn(List.of("true")));
  }

  private static void awaitEnd(long pid) throws Exception {
    var process = ProcessHandle.of(pid);
    if (process.isPresent()) {
      process.get().onExit().get(LIMIT.toSeconds(), java.util.concurrent.TimeUnit.SECONDS);
    }
  }
}
