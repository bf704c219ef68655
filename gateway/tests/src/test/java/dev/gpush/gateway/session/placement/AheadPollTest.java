package dev.gpush.gateway.session.placement;

import static dev.gpush.gateway.session.SessionRig.DEADLINE;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.testkit.fake.ManualClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How often the queues are asked what is ahead of a request, and how long they may take. */
final class AheadPollTest {
  private static final Bid HPC = bid("hpc", "0123456789abcdef");
  private static final Bid CW = bid("cw", "fedcba9876543210");
  private static final JobsAhead NEXT = new JobsAhead("the queue", 0, List.of(), false);

  private final Tasks tasks = Tasks.named("ahead", (_, bug) -> bug.printStackTrace());
  private final ManualClock clock = new ManualClock();
  private final AtomicInteger questions = new AtomicInteger();
  private final CompletableFuture<Boolean> answering = new CompletableFuture<>();
  private final AheadPoll poll = new AheadPoll(this::answer, clock, tasks);

  @AfterEach
  void end() {
    answering.complete(true);
    tasks.close();
  }

  private static Bid bid(String backend, String gang) {
    return new Bid(backend, "", new GangId(gang), Optional.empty(), true);
  }

  private Optional<JobsAhead> answer(Bid bid) {
    if (bid.equals(HPC)) {
      questions.incrementAndGet();
      answering.join();
    }
    return Optional.of(NEXT);
  }

  @Test
  void aQueueThatIsSlowIsAskedOnceAndItsAnswerIsKept() throws Exception {
    assertEquals(Map.of(), poll.of(List.of(HPC), Duration.ZERO));
    clock.advance(Duration.ofMinutes(1));
    assertEquals(Map.of(), poll.of(List.of(HPC), Duration.ZERO));
    answering.complete(true);
    for (int second = 0; second < 10; second++) {
      assertEquals(Map.of("hpc", NEXT), poll.of(List.of(HPC), DEADLINE));
      clock.advance(Duration.ofSeconds(1));
    }
    assertEquals(1, questions.get());

    assertEquals(Map.of("hpc", NEXT), poll.of(List.of(HPC), DEADLINE));
    assertEquals(2, questions.get());
  }

  @Test
  void aQueueThatIsSilentDoesNotHideTheOthers() throws Exception {
    poll.of(List.of(CW), DEADLINE);

    assertEquals(Map.of("cw", NEXT), poll.of(List.of(HPC, CW), Duration.ZERO));
  }
}
