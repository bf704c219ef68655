package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class SharedTalkTest {
  private final Tasks tasks = Tasks.named("shared", (_, bug) -> bug.printStackTrace());
  private final SharedTalk shared = new SharedTalk(false);

  @AfterEach
  void end() {
    tasks.close();
  }

  private Future<Boolean> follow(Talk talk) {
    return tasks.fork(
        "follow",
        () -> {
          shared.follow(talk, () -> false);
          return true;
        });
  }

  private Future<Boolean> ask(String question) {
    return tasks.fork(
        "ask",
        () -> {
          shared.confirm(question, "--yes");
          return true;
        });
  }

  private static GpushException failure(Future<Boolean> asked) {
    var failed =
        assertThrows(
            java.util.concurrent.ExecutionException.class, () -> asked.get(20, TimeUnit.SECONDS));
    return assertInstanceOf(GpushException.class, failed.getCause());
  }

  @Test
  void everyFollowerSeesTheStepsUnderWayAndWhatIsSaid() throws Exception {
    Talk.Step step = shared.step("reserving");
    var one = FakeTalk.answering(true);
    var two = FakeTalk.answering(true);
    Future<Boolean> first = follow(one);
    Future<Boolean> second = follow(two);
    until("both see the step", () -> !one.lines().isEmpty() && !two.lines().isEmpty());

    shared.say("hpc has it first");
    step.close();
    shared.end();

    first.get(20, TimeUnit.SECONDS);
    second.get(20, TimeUnit.SECONDS);
    assertEquals(List.of("reserving", "hpc has it first"), one.lines());
    assertEquals(List.of("reserving", "hpc has it first"), two.lines());
  }

  @Test
  void whatWasSaidWhileNobodyFollowedIsShownToTheNextOneOnly() throws Exception {
    shared.say("nobody hears it yet");
    var one = FakeTalk.answering(true);
    Future<Boolean> first = follow(one);
    until("it is shown", () -> !one.lines().isEmpty());
    var two = FakeTalk.answering(true);
    Future<Boolean> second = follow(two);
    shared.end();

    first.get(20, TimeUnit.SECONDS);
    second.get(20, TimeUnit.SECONDS);
    assertEquals(List.of("nobody hears it yet"), one.lines());
    assertEquals(List.of(), two.lines());
  }

  @Test
  void aQuestionIsAnsweredByAFollower() throws Exception {
    follow(FakeTalk.answering(true));
    until("it follows", shared::isFollowed);

    assertTrue(ask("Send it?").get(20, TimeUnit.SECONDS));
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
    Future<Boolean> asked =
        tasks.fork(
            "ask",
            () -> {
              begun.confirm("Send it?", "--yes");
              return true;
            });

    tasks.start("follow", () -> followed(begun));

    assertTrue(asked.get(20, TimeUnit.SECONDS));
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
    Future<Boolean> following = follow(neverAnswers);
    until("it follows", shared::isFollowed);
    Future<Boolean> asked = ask("Send it?");
    Thread follower = thread.get(20, TimeUnit.SECONDS);
    shared.step("syncing");
    var other = FakeTalk.answering(true);
    follow(other);
    until("the other follows too", () -> other.lines().equals(List.of("syncing")));

    follower.interrupt();

    assertTrue(asked.get(20, TimeUnit.SECONDS));
    assertEquals(List.of("syncing", "Send it?"), other.lines());
    assertInstanceOf(
        InterruptedException.class,
        assertThrows(
                java.util.concurrent.ExecutionException.class,
                () -> following.get(20, TimeUnit.SECONDS))
            .getCause());
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
