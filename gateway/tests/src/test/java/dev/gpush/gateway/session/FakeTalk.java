package dev.gpush.gateway.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.HowFar;
import dev.gpush.core.talk.Talk;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** Remembers what was said, answers questions, and does something at each moment. */
public final class FakeTalk implements Talk {
  private final Predicate<String> answer;
  private final boolean isThere;
  private final Runnable moment;

  // guarded by this
  private final List<String> lines = new ArrayList<>();
  private boolean isCancelled;

  FakeTalk(boolean answer, Runnable moment) {
    this(_ -> answer, true, moment);
  }

  private FakeTalk(Predicate<String> answer, boolean isThere, Runnable moment) {
    this.answer = answer;
    this.isThere = isThere;
    this.moment = moment;
  }

  public static FakeTalk answering(boolean answer) {
    return new FakeTalk(answer, () -> {});
  }

  /** With its own answer each time, to the questions of an option. */
  static FakeTalk answering(Predicate<String> answer) {
    return new FakeTalk(answer, true, () -> {});
  }

  /** Of a command with {@code --yes} and nobody at a terminal. */
  public static FakeTalk unattended() {
    return new FakeTalk("--yes"::equals, false, () -> {});
  }

  /** Called whenever a step begins, changes or ends. */
  public static FakeTalk at(Runnable moment) {
    return new FakeTalk(true, moment);
  }

  /** From now on the user has said stop. */
  public synchronized void cancel() {
    isCancelled = true;
  }

  @Override
  public synchronized boolean isCancelled() {
    return isCancelled;
  }

  public synchronized List<String> lines() {
    return List.copyOf(lines);
  }

  private synchronized void heard(String line) {
    lines.add(line);
  }

  @Override
  public void say(String line) {
    heard(line);
    moment.run();
  }

  @Override
  public Step step(String what) {
    heard(what);
    moment.run();
    return new Step() {
      @Override
      public void show(HowFar far) {
        moment.run();
      }

      @Override
      public void close() {
        moment.run();
      }
    };
  }

  @Override
  public void confirm(String question, String flag) {
    heard(question);
    if (!answer.test(flag)) {
      throw new GpushException(
          isThere
              ? new UsageFailure.Declined(question)
              : new UsageFailure.NobodyToAsk(question, flag));
    }
  }
}
