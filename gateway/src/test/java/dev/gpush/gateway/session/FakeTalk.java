package dev.gpush.gateway.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.Talk;
import java.util.ArrayList;
import java.util.List;

/** Remembers what was said, answers questions, and does something at each moment. */
final class FakeTalk implements Talk {
  private final boolean answer;
  private final Runnable moment;

  // guarded by this
  private final List<String> lines = new ArrayList<>();

  FakeTalk(boolean answer, Runnable moment) {
    this.answer = answer;
    this.moment = moment;
  }

  static FakeTalk answering(boolean answer) {
    return new FakeTalk(answer, () -> {});
  }

  /** Called whenever a step begins, changes or ends. */
  static FakeTalk at(Runnable moment) {
    return new FakeTalk(true, moment);
  }

  synchronized List<String> lines() {
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
      public void detail(String text) {
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
    if (!answer) {
      throw new GpushException(new UsageFailure.Declined(question));
    }
  }
}
