package dev.gpush.core.talk;

/** Counts on a step what several threads do: from zero on, and never backwards. */
public final class StepCount {
  /** Each of some hundred thousand would wake who shows it. */
  private static final int SHOWN_PARTS = 100;

  private final Talk.Step step;
  private final int of;
  private final String what;

  // guarded by this; shown while it is held, so that no smaller count is shown later
  private int done;

  /**
   * @param of how much there is to do; zero is not shown
   */
  public StepCount(Talk.Step step, int of, String what) {
    this.step = step;
    this.of = of;
    this.what = what;
    if (of > 0) {
      step.show(HowFar.count(0, of, what));
    }
  }

  public synchronized void add() {
    done++;
    if (done % Math.max(1, of / SHOWN_PARTS) == 0 || done == of) {
      step.show(HowFar.count(done, of, what));
    }
  }
}
