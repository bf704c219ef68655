package dev.gpush.gateway.session.live;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.HowFar;
import dev.gpush.core.talk.Talk;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The messages of a request that belongs to no client. Any number of commands {@link #follow} it,
 * each on its own thread and with its own {@link Talk}, so that a terminal that does not read stops
 * only its own command. Messages without a follower are shown to the next one.
 */
public final class SharedTalk implements Talk {
  /** A request has a few messages; older ones do not help a late follower. */
  private static final int MAX_LINES = 50;

  private final boolean answersYes;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock: all below
  private final Deque<String> lines = new ArrayDeque<>();
  private final List<Shared> steps = new ArrayList<>();
  private Optional<Question> question = Optional.empty();
  private long said;
  private long seen;
  private long version;
  private int followers;
  private boolean isExpecting;
  private boolean isOver;

  /**
   * @param answersYes whether the command was given {@code --yes}
   */
  public SharedTalk(boolean answersYes) {
    this(answersYes, false);
  }

  /**
   * @param isExpecting whether the command that asks will follow it at once: until then that
   *     command counts as a follower, because the request may fail before
   */
  public SharedTalk(boolean answersYes, boolean isExpecting) {
    this.answersYes = answersYes;
    this.isExpecting = isExpecting;
  }

  @Override
  public void say(String line) {
    change(
        () -> {
          lines.add(line);
          said++;
          if (lines.size() > MAX_LINES) {
            lines.removeFirst();
          }
        });
  }

  @Override
  public Step step(String what) {
    var step = new Shared(what);
    change(() -> steps.add(step));
    return step;
  }

  /** Asks one of the followers; fails without one. */
  @Override
  public void confirm(String text, String flag) {
    if (answersYes && flag.equals("--yes")) {
      return;
    }
    var asked = new Question(text, flag);
    lock.lock();
    try {
      question = Optional.of(asked);
      changing();
      while (!asked.isAnswered) {
        if (followers == 0 && !isExpecting) {
          throw new GpushException(new UsageFailure.NobodyToAsk(text, flag));
        }
        changed.await();
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new GpushException(new UsageFailure.Declined(text), stop);
    } finally {
      question = Optional.empty();
      lock.unlock();
    }
    asked.refusal.ifPresent(
        refused -> {
          throw new GpushException(refused.failure(), refused);
        });
  }

  /** There are no more messages. */
  void end() {
    change(() -> isOver = true);
  }

  public boolean isFollowed() {
    lock.lock();
    try {
      return followers > 0 || isExpecting;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Shows the messages until the end, or until the caller may stop waiting.
   *
   * @param isEnough checked after each message
   */
  void follow(Talk talk, BooleanSupplier isEnough) throws InterruptedException {
    var mirror = new Mirror(talk, enter());
    try {
      News news;
      do {
        news = next(mirror);
        mirror.show(news);
      } while (!news.isOver() && !isEnough.getAsBoolean());
    } finally {
      leave();
      mirror.close();
    }
  }

  private long enter() {
    lock.lock();
    try {
      followers++;
      isExpecting = false;
      return seen;
    } finally {
      lock.unlock();
    }
  }

  private void leave() {
    change(() -> followers--);
  }

  /** What a follower has not shown yet; waits until there is something. */
  private News next(Mirror mirror) throws InterruptedException {
    lock.lock();
    try {
      while (!isOver && mirror.version == version) {
        changed.await();
      }
      var all = List.copyOf(lines);
      int unseen = (int) Math.min(all.size(), said - mirror.line);
      var details = new LinkedHashMap<Shared, HowFar>();
      steps.forEach(step -> details.put(step, step.far));
      Optional<Question> ask = question.filter(each -> !each.isTaken && !each.isAnswered);
      ask.ifPresent(each -> each.isTaken = true);
      mirror.version = version;
      mirror.line = said;
      seen = said;
      return new News(all.subList(all.size() - unseen, all.size()), details, ask, isOver);
    } finally {
      lock.unlock();
    }
  }

  private void change(Runnable doing) {
    lock.lock();
    try {
      doing.run();
      changing();
    } finally {
      lock.unlock();
    }
  }

  // holds lock
  private void changing() {
    version++;
    changed.signalAll();
  }

  /** What has changed since a follower's last call. */
  private record News(
      List<String> lines, Map<Shared, HowFar> steps, Optional<Question> question, boolean isOver) {}

  /** Its fields are guarded by the lock. */
  private static final class Question {
    private final String text;
    private final String flag;
    private boolean isTaken;
    private boolean isAnswered;
    private Optional<GpushException> refusal = Optional.empty();

    Question(String text, String flag) {
      this.text = text;
      this.flag = flag;
    }
  }

  /** A step in progress; how far it is, is guarded by the lock. */
  private final class Shared implements Step {
    private final String what;
    private HowFar far = HowFar.unknown();

    Shared(String what) {
      this.what = what;
    }

    @Override
    public void show(HowFar now) {
      change(() -> far = now);
    }

    @Override
    public void close() {
      change(() -> steps.remove(this));
    }
  }

  /** What one follower has shown, on the follower's thread. */
  private final class Mirror {
    private final Talk talk;
    private final Map<Shared, Step> shown = new LinkedHashMap<>();
    private final Map<Shared, HowFar> details = new LinkedHashMap<>();
    private long line;
    private long version = -1;

    Mirror(Talk talk, long line) {
      this.talk = talk;
      this.line = line;
    }

    void show(News news) throws InterruptedException {
      shown.entrySet().stream()
          .filter(each -> !news.steps().containsKey(each.getKey()))
          .toList()
          .forEach(each -> close(each.getKey(), each.getValue()));
      news.lines().forEach(talk::say);
      news.steps()
          .forEach(
              (step, far) -> {
                Step here = shown.computeIfAbsent(step, each -> talk.step(each.what));
                if (!far.equals(details.put(step, far)) && !far.text().isEmpty()) {
                  here.show(far);
                }
              });
      if (news.question().isPresent()) {
        ask(news.question().get());
      }
    }

    private void close(Shared step, Step here) {
      shown.remove(step);
      details.remove(step);
      here.close();
    }

    /** If the follower leaves before it has answered, another one is asked. */
    private void ask(Question asked) throws InterruptedException {
      Optional<GpushException> refusal = Optional.empty();
      boolean isAnswered = false;
      try {
        talk.confirm(asked.text, asked.flag);
        isAnswered = true;
      } catch (GpushException refused) {
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        refusal = Optional.of(refused);
        isAnswered = true;
      } finally {
        answer(asked, isAnswered, refusal);
      }
    }

    private void answer(Question asked, boolean isAnswered, Optional<GpushException> refusal) {
      change(
          () -> {
            asked.isTaken = false;
            asked.isAnswered = isAnswered;
            asked.refusal = refusal;
          });
    }

    void close() {
      shown.values().forEach(Step::close);
    }
  }
}
