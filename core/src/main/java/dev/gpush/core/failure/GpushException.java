package dev.gpush.core.failure;

/** Carries a {@link Failure} to the edge that tells the user. */
public final class GpushException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient Failure failure;

  public GpushException(Failure failure) {
    super(failure.toString());
    this.failure = failure;
  }

  public GpushException(Failure failure, Throwable cause) {
    super(failure.toString(), cause);
    this.failure = failure;
  }

  public Failure failure() {
    return failure;
  }
}
