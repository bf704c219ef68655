package dev.gpush.core.talk;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;

/** For work without a command that follows it. */
final class SilentTalk implements Talk {
  @Override
  public void say(String line) {}

  @Override
  public boolean isSilent() {
    return true;
  }

  @Override
  public Step step(String what) {
    return new Step() {
      @Override
      public void show(HowFar far) {}

      @Override
      public void close() {}
    };
  }

  @Override
  public void confirm(String question, String flag) {
    throw new GpushException(new UsageFailure.NobodyToAsk(question, flag));
  }
}
