package dev.gpush.sync.watch;

/** How much of what changes a watcher reports. */
public sealed interface Coverage {
  /** All, at once. */
  record Complete() implements Coverage {}

  /**
   * Some changes are only found by looking at everything now and then.
   *
   * @param reason for the user: what the operating system lacks
   */
  record ByScan(String reason) implements Coverage {}

  /** Empty when it is complete. */
  default String reason() {
    return switch (this) {
      case Complete _ -> "";
      case ByScan(var reason) -> reason;
    };
  }

  default boolean isComplete() {
    return this instanceof Complete;
  }
}
