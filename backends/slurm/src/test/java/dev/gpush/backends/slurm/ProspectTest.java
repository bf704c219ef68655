package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.backends.slurm.cluster.WaitReason;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.fake.ChildPipe;
import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What a job in the queue of a cluster waits for, in words that stay as they are. */
final class ProspectTest {
  private final Tasks tasks = Tasks.named("prospect", (_, bug) -> bug.printStackTrace());
  private final ManualClock clock = new ManualClock();
  private final List<String> queue = new ArrayList<>();
  private final Prospect prospect = new Prospect(site());

  @AfterEach
  void end() {
    tasks.close();
  }

  /** A cluster whose clock is two hours ahead. */
  private Site site() {
    return new Site(
        "hpc",
        List.of(),
        SlurmSettings.of(new BackendConfig("hpc", "slurm", Json.object(), "")),
        new Machine() {
          @Override
          public String name() {
            return "login";
          }

          @Override
          public Pipe spawn(List<String> arguments) throws IOException {
            boolean isQueue = arguments.contains("squeue");
            String said = isQueue ? String.join("\n", queue) : there(Duration.ZERO) + "\n";
            return ChildPipe.start(List.of("printf", "%s", said));
          }
        },
        new AgentImage(tasks, new SecureRandom()),
        tasks,
        clock);
  }

  private String there(Duration ahead) {
    LocalDateTime now = LocalDateTime.ofInstant(clock.now(), ZoneOffset.ofHours(2));
    return now.plus(ahead).toString();
  }

  private static String line(long id, String start, int priority) {
    return String.join(
        "\u001f",
        List.of(
            "" + id,
            "n",
            "ann",
            "PENDING",
            "Priority",
            "gpu",
            start,
            "",
            "1:00:00",
            "" + priority,
            "1",
            "gres:gpu:8",
            ""));
  }

  private String words(String start) throws Exception {
    return words(start, "Priority");
  }

  private String words(String start, String reason) throws Exception {
    String own = line(4711, start, 5);
    queue.add(own);
    SlurmJob job = SlurmJob.parse(own).getFirst();
    String words = prospect.words(job, WaitReason.of(reason));
    queue.remove(own);
    return words;
  }

  @Test
  void placeTimeAndReasonComeFirstAndStayTheSame() throws Exception {
    queue.add(line(1, "N/A", 9));
    queue.add(line(2, "N/A", 1));
    String start = there(Duration.ofMinutes(118));
    String words = "2 of 3 · ≈12:00 · jobs of higher priority come first · slurm job 4711";

    assertEquals(words, words(start));
    clock.advance(Duration.ofMinutes(1));
    assertEquals(words, words(start));
    assertEquals(words, words(there(Duration.ofMinutes(121))), "a little later is the same");
    clock.advance(Duration.ofSeconds(3));
    assertEquals(words.replace("12:00", "12:25"), words(there(Duration.ofMinutes(140))));
  }

  @Test
  void whatIsNotKnownIsLeftOut() throws Exception {
    String alone = "it is next; nodes are not free yet · slurm job 4711";

    assertEquals(alone, words("N/A", "Resources"));
    clock.advance(Duration.ofMinutes(1));
    assertEquals(alone, words(there(Duration.ofMinutes(-1)), "Resources"));
    clock.advance(Duration.ofMinutes(1));
    assertEquals("≈Sun 10:05 · " + alone, words(there(Duration.ofDays(1)), "Resources"));
    clock.advance(Duration.ofMinutes(1));
    assertEquals("≈2026-12-01 · " + alone, words(there(Duration.ofDays(10)), "Resources"));
  }
}
