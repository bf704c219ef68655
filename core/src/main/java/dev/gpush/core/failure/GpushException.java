package dev.gpush.core.failure;

/** Carries a {@link Failure} to the place that reports it. Its message is the failure's clause. */
public final class GpushException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Failure failure;

  public GpushException(Failure failure) {
    super(FailureClause.of(failure));
    this.failure = failure;
  }

  public GpushException(Failure failure, Throwable cause) {
    super(FailureClause.of(failure), cause);
    this.failure = failure;
  }

  public Failure failure() {
    return failure;
  }
}
