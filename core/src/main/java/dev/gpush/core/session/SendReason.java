package dev.gpush.core.session;

import dev.gpush.core.text.Worded;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

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

  /** No rule of a user sends what has these names. */
  public static final Set<String> ALWAYS = Set.of(".git", ".gpush");

  private static final String GPUSH_IGNORE = ".gpushignore";

  /** What means something else in a pattern. */
  private static final Pattern SPECIAL = Pattern.compile("[*?\\[\\\\]| (?= *$)");

  /** What the path is on this machine. */
  public enum Kind implements Worded {
    FILE,
    FOLDER,
    LINK,
    OTHER,
    MISSING
  }

  /** What happens to it. */
  public enum Verdict implements Worded {
    /** No rule ignores it, or one includes it. */
    SENT(true),
    /** Git tracks it, whatever rules say. */
    TRACKED(true),
    /** After a question, because of its size; not with a save. */
    LARGE(true),
    /** Of an ignored folder, only what git tracks. */
    TRACKED_ONLY(true),
    IGNORED(false),
    /** A name that is never sent. */
    NEVER(false),
    LEADS_OUT(false),
    NO_REGULAR_FILE(false),
    /** A folder above it is a link, which is not followed. */
    BEHIND_LINK(false),
    /** What should be a folder above it is a file. */
    BELOW_FILE(false),
    OUTSIDE(false);

    private final boolean isSent;

    Verdict(boolean isSent) {
      this.isSent = isSent;
    }

    public boolean isSent() {
      return isSent;
    }
  }

  /**
   * Lines at the end of an ignore file.
   *
   * @param file from the root of the workspace
   */
  public record Added(String file, List<String> lines) {
    public Added {
      lines = List.copyOf(lines);
    }
  }

  /**
   * What sends the path, and nothing else that is not sent now; empty if no rule ignores it, or
   * none can change that. git and gpush look into a folder only if it is not ignored itself, so
   * each folder is included, and its other contents are not.
   */
  public Optional<Added> addition() {
    boolean isByRule = verdict == Verdict.IGNORED || verdict == Verdict.NEVER;
    String name = at.substring(at.lastIndexOf('/') + 1);
    if (!isByRule || rule.isEmpty() || ALWAYS.contains(name)) {
      return Optional.empty();
    }
    String own = rule.get().file();
    boolean isOwn = own.endsWith("/" + GPUSH_IGNORE) && !own.startsWith("/");
    String file = isOwn ? own : GPUSH_IGNORE; // An inner one decides before it.
    int base = file.length() - GPUSH_IGNORE.length();
    var lines = new ArrayList<String>();
    for (int end = at.length(); end < path.length(); ) {
      String folder = "/" + escaped(path.substring(base, end)) + "/";
      lines.addAll(List.of("!" + folder, folder + "*"));
      int next = path.indexOf('/', end + 1);
      end = next < 0 ? path.length() : next;
    }
    String last = kind == Kind.FOLDER ? "/" : "";
    lines.add("!/" + escaped(path.substring(base)) + last);
    return Optional.of(new Added(file, lines));
  }

  private static String escaped(String path) {
    return SPECIAL.matcher(path).replaceAll("\\\\$0");
  }

  /**
   * A line of an ignore file.
   *
   * @param file as users know it
   * @param line from 1; 0 for names that gpush itself leaves out
   */
  public record Rule(String pattern, String file, int line) {
    public static Rule builtIn(String name) {
      return new Rule(name, "gpush", 0);
    }

    public boolean isBuiltIn() {
      return line == 0;
    }

    /** It says what is sent after all. */
    public boolean includes() {
      return pattern.startsWith("!");
    }

    /** {@code data/ (.gitignore:3)}. */
    public String text() {
      return isBuiltIn() ? pattern : pattern + " (" + file + ":" + line + ")";
    }
  }
}
