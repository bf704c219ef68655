package dev.gpush.core.backend;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What a backend answers before anything is reserved. */
public sealed interface Plan {
  /** It would be granted now; {@code what} in a few words. */
  record Now(String what) implements Plan {}

  /** It fits later: with the backend's estimate if it has one, and why not now. */
  record Later(String reason, Optional<Duration> estimate, List<String> holders) implements Plan {}

  /** It can never fit as asked. */
  record Never(String reason, List<String> works) implements Plan {}
}
