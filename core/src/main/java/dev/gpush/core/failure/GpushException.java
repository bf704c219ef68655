package dev.gpush.core.failure;

/** Carries a {@link Failure} to the place that reports it. Its message is the failure's clause. */
public final class GpushException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Failure failure;

  public GpushException(Failure failure) {
    super(FailureText.clause(failure));
    this.failure = failure;
  }

  public GpushException(Failure failure, Throwable cause) {
    super(FailureText.clause(failure), cause);
    this.failure = failure;
  }

  public Failure failure() {
    return failure;
  }
}
