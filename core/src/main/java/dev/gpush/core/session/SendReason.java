package dev.gpush.core.session;

import java.util.Optional;

/**
 * Why a path is sent to nodes, or is not.
 *
 * @param path from the root of the workspace, empty for the root; absolute when it is outside
 * @param at the folder above that decided, or the path itself
 * @param rule that decided; it may also include the path
 * @param detail the target of a link, or a size
 */
public record SendReason(
    String path, Kind kind, Verdict verdict, String at, Optional<Rule> rule, String detail) {

  /** What the path is on this machine. */
  public enum Kind {
    FILE("file"),
    FOLDER("folder"),
    LINK("link"),
    OTHER("other"),
    MISSING("missing");

    private final String word;

    Kind(String word) {
      this.word = word;
    }

    public String word() {
      return word;
    }
  }

  /** What happens to it. */
  public enum Verdict {
    /** No rule ignores it, or one includes it. */
    SENT("sent", true),
    /** Git tracks it, whatever rules say. */
    TRACKED("tracked", true),
    /** After a question, because of its size; not with a save. */
    LARGE("large", true),
    /** Of an ignored folder, only what git tracks. */
    TRACKED_ONLY("tracked-only", true),
    IGNORED("ignored", false),
    /** A name that is never sent. */
    NEVER("never", false),
    LEADS_OUT("leads-out", false),
    NO_REGULAR_FILE("no-regular-file", false),
    /** A folder above it is a link, which is not followed. */
    BEHIND_LINK("behind-link", false),
    /** What should be a folder above it is a file. */
    BELOW_FILE("below-file", false),
    OUTSIDE("outside", false);

    private final String word;
    private final boolean isSent;

    Verdict(String word, boolean isSent) {
      this.word = word;
      this.isSent = isSent;
    }

    public String word() {
      return word;
    }

    public boolean isSent() {
      return isSent;
    }
  }

  /**
   * A line of an ignore file.
   *
   * @param file as users know it
   * @param line from 1; 0 for names that gpush itself leaves out
   */
  public record Rule(String pattern, String file, int line) {
    /** It says what is sent after all. */
    public boolean includes() {
      return pattern.startsWith("!");
    }

    /** {@code data/ (.gitignore:3)}. */
    public String text() {
      return line == 0 ? pattern : pattern + " (" + file + ":" + line + ")";
    }
  }
}
