package dev.gpush.backends.floor;

import dev.gpush.core.failure.GpushException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The cluster could not be asked: nothing follows from it, least of all that something is gone. */
public final class NotTold extends Exception {
  private static final long serialVersionUID = 1;

  private final String words;

  public NotTold(String words, @Nullable Throwable cause) {
    super(words, cause);
    this.words = words;
  }

  public String words() {
    return words;
  }

  /** The way there is closed, and a user can do something about that. */
  public Optional<GpushException> known() {
    return getCause() instanceof GpushException failure ? Optional.of(failure) : Optional.empty();
  }
}
