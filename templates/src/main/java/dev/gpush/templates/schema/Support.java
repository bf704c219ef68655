package dev.gpush.templates.schema;

/** How far this version supports a key. */
public sealed interface Support {
  /** It works. */
  record Full() implements Support {}

  /**
   * It is accepted, has no effect, and is reported: a project with the key can be used.
   *
   * @param effect what happens instead, as the rest of a sentence
   */
  record Unsupported(String effect) implements Support {}

  /**
   * It is refused, because the rest of the file makes no sense without it.
   *
   * @param feature what the key waits for
   */
  record Refused(String feature) implements Support {}

  /**
   * It is refused, because the feature was removed.
   *
   * @param instead what to do, as a sentence without its end
   */
  record Removed(String instead) implements Support {}
}
