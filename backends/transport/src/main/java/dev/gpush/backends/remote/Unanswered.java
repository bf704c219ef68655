package dev.gpush.backends.remote;

import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The cluster could not be asked: nothing follows from it, least of all that something is gone. */
public final class Unanswered extends Exception {
  private static final long serialVersionUID = 1;

  private final String words;

  public Unanswered(String words, @Nullable Throwable cause) {
    super(words, cause);
    this.words = words;
  }

  /** Something that is asked of the cluster. */
  @FunctionalInterface
  public interface Question<T> {
    T ask() throws InterruptedException, Unanswered;
  }

  /**
   * What came of asking, for those who want an answer or a failure.
   *
   * @param remedy what to try when nobody could tell
   */
  public static <T> T answer(String backend, String remedy, Question<T> question) {
    try {
      return question.ask();
    } catch (Unanswered unknown) {
      throw unknown
          .known()
          .orElseGet(
              () ->
                  new GpushException(
                      new BackendFailure.Unavailable(backend, unknown.words(), remedy), unknown));
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new GpushException(
          new BackendFailure.Unavailable(backend, "interrupted", "gpush backends"), stop);
    }
  }

  /** What came of asking whether a gang exists. */
  public static Observation observation(Question<Observation> question) {
    try {
      return question.ask();
    } catch (Unanswered unknown) {
      return new Observation.CannotTell(unknown.words());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return new Observation.CannotTell("interrupted");
    }
  }

  /** What came of asking where a command is to run. */
  public static <T> T orBroken(Question<T> question) throws IOException {
    try {
      return question.ask();
    } catch (Unanswered unknown) {
      throw new IOException(unknown.words(), unknown);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
  }

  public String words() {
    return words;
  }

  /** The way there is closed, and a user can do something about that. */
  public Optional<GpushException> known() {
    return getCause() instanceof GpushException failure ? Optional.of(failure) : Optional.empty();
  }
}
