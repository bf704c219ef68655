package dev.gpush.gateway.session.live;

import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.FakeTalk;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class SharedTalkTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private final Tasks tasks = Tasks.named("shared", (_, bug) -> bug.printStackTrace());
  private final SharedTalk shared = new SharedTalk(false);

  @AfterEach
  void end() {
    tasks.close();
  }

  private Task<Boolean, RuntimeException> follow(Talk talk) {
    return tasks.fork(
        "follow",
        () -> {
          shared.follow(talk, () -> false);
          return true;
        });
  }

  private Task<Boolean, RuntimeException> ask(String question) {
    return tasks.fork(
        "ask",
        () -> {
          shared.confirm(question, "--yes");
          return true;
        });
  }

  private static GpushException failure(Task<Boolean, RuntimeException> asked) {
    return assertThrows(GpushException.class, () -> asked.get(LIMIT));
  }

  @Test
  void everyFollowerSeesTheStepsUnderWayAndWhatIsSaid() throws Exception {
    Talk.Step step = shared.step("reserving");
    var one = FakeTalk.answering(true);
    var two = FakeTalk.answering(true);
    Task<Boolean, RuntimeException> first = follow(one);
    Task<Boolean, RuntimeException> second = follow(two);
    until("both see the step", () -> !one.lines().isEmpty() && !two.lines().isEmpty());

    shared.say("hpc was first to provide the nodes");
    step.close();
    shared.end();

    first.get(LIMIT);
    second.get(LIMIT);
    assertEquals(List.of("reserving", "hpc was first to provide the nodes"), one.lines());
    assertEquals(List.of("reserving", "hpc was first to provide the nodes"), two.lines());
  }

  @Test
  void whatWasSaidWhileNobodyFollowedIsShownToTheNextOneOnly() throws Exception {
    shared.say("nobody hears it yet");
    var one = FakeTalk.answering(true);
    Task<Boolean, RuntimeException> first = follow(one);
    until("it is shown", () -> !one.lines().isEmpty());
    var two = FakeTalk.answering(true);
    Task<Boolean, RuntimeException> second = follow(two);
    shared.end();

    first.get(LIMIT);
    second.get(LIMIT);
    assertEquals(List.of("nobody hears it yet"), one.lines());
    assertEquals(List.of(), two.lines());
  }

  @Test
  void aQuestionIsAnsweredByAFollower() throws Exception {
    follow(FakeTalk.answering(true));
    until("it follows", shared::isFollowed);

    assertTrue(ask("Send it?").get(LIMIT));
  }

  @Test
  void whatAFollowerDeclinesIsDeclined() {
    follow(FakeTalk.answering(false));
    until("it follows", shared::isFollowed);

    assertInstanceOf(UsageFailure.Declined.class, failure(ask("Send it?")).failure());
  }

  @Test
  void withoutAFollowerNobodyCanBeAsked() {
    assertEquals(
        new UsageFailure.NobodyToAsk("Send it?", "--yes"), failure(ask("Send it?")).failure());
  }

  @Test
  void whoAskedIsWaitedForToFollow() throws Exception {
    var begun = new SharedTalk(false, true);
    assertTrue(begun.isFollowed());
    Task<Boolean, RuntimeException> asked =
        tasks.fork(
            "ask",
            () -> {
              begun.confirm("Send it?", "--yes");
              return true;
            });

    tasks.start("follow", () -> followed(begun));

    assertTrue(asked.get(LIMIT));
    begun.end();
    until("nobody follows any more", () -> !begun.isFollowed());
  }

  private static void followed(SharedTalk talk) {
    try {
      talk.follow(FakeTalk.answering(true), () -> false);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void yesOnTheCommandLineStillAnswersWhenItsTerminalIsGone() throws Exception {
    var answered = new SharedTalk(true);

    answered.confirm("Send it?", "--yes");

    assertThrows(GpushException.class, () -> answered.confirm("Throw it away?", "--discard"));
  }

  @Test
  void aFollowerThatLeavesOverAQuestionHasNotAnsweredIt() throws Exception {
    var thread = new CompletableFuture<Thread>();
    var neverAnswers =
        new UnansweringTalk(() -> thread.complete(Thread.currentThread()), new CountDownLatch(1));
    Task<Boolean, RuntimeException> following = follow(neverAnswers);
    until("it follows", shared::isFollowed);
    Task<Boolean, RuntimeException> asked = ask("Send it?");
    Thread follower = thread.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    shared.step("syncing");
    var other = FakeTalk.answering(true);
    follow(other);
    until("the other follows too", () -> other.lines().equals(List.of("syncing")));

    follower.interrupt();

    assertTrue(asked.get(LIMIT));
    assertEquals(List.of("syncing", "Send it?"), other.lines());
    assertThrows(InterruptedException.class, () -> following.get(LIMIT));
  }

  /** A user who looks at the question and closes the terminal. */
  private record UnansweringTalk(Runnable asked, CountDownLatch never) implements Talk {
    @Override
    public void say(String line) {}

    @Override
    public Step step(String what) {
      return Talk.silent().step(what);
    }

    @Override
    public void confirm(String question, String flag) {
      asked.run();
      try {
        never.await();
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        throw new GpushException(new UsageFailure.Declined(question), stop);
      }
    }
  }
}
