package dev.gpush.sync;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.HowFar;
import dev.gpush.core.talk.Talk;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers what was said and asked; answers as it was told to. */
public final class FakeTalk implements Talk {
  public enum Answer {
    YES,
    NO,
    NOBODY
  }

  public final List<String> said = new CopyOnWriteArrayList<>();
  public final List<String> asked = new CopyOnWriteArrayList<>();

  /** How far steps were. */
  public final List<String> shown = new CopyOnWriteArrayList<>();

  public volatile Answer answer = Answer.NOBODY;

  /** Run when the next step of this beginning is shown: a moment in the middle of the work. */
  private final Map<String, Runnable> atStep = new ConcurrentHashMap<>();

  public void onceAt(String beginning, Runnable action) {
    atStep.put(beginning, action);
  }

  @Override
  public void say(String line) {
    said.add(line);
  }

  @Override
  public Step step(String what) {
    for (String beginning : atStep.keySet()) {
      if (what.startsWith(beginning)) {
        atStep.remove(beginning).run();
      }
    }
    return new Step() {
      @Override
      public void show(HowFar far) {
        shown.add(far.text());
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void confirm(String question, String flag) {
    asked.add(question);
    switch (answer) {
      case YES -> {}
      case NO -> throw new GpushException(new UsageFailure.Declined(question));
      case NOBODY -> throw new GpushException(new UsageFailure.NobodyToAsk(question, flag));
    }
  }
}
