package dev.gpush.core.talk;

/**
 * The changing part of a step.
 *
 * @param text for people, with the numbers
 * @param done how much of the step is done
 * @param of how much there is; 0: not known
 */
public record HowFar(String text, long done, long of) {
  private static final HowFar UNKNOWN = new HowFar("", 0, 0);

  public HowFar {
    if (done < 0 || done > of) {
      throw new IllegalArgumentException(done + " of " + of);
    }
  }

  /** Before anything is known. */
  public static HowFar unknown() {
    return UNKNOWN;
  }

  /** In words only. */
  public static HowFar words(String text) {
    return new HowFar(text, 0, 0);
  }

  /**
   * Counted: "312 of 900 files read".
   *
   * @param of may turn out to have been too few
   */
  public static HowFar count(long done, long of, String what) {
    long all = Math.max(done, of);
    return new HowFar(done + " of " + all + " " + what, done, all);
  }

  public boolean isCounted() {
    return of > 0;
  }
}
