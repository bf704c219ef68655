package dev.gpush.core.config;

import dev.gpush.core.text.CleanText;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A folder on the nodes, as a configuration names it: {@code /scratch/$USER/runs}, {@code ~/runs}.
 * A path that is not absolute on the node is refused: files would go to a folder that the user did
 * not name, perhaps on a disk that goes away with the node.
 */
public record NodeFolder(String text) {
  private static final Pattern VARIABLE =
      Pattern.compile("\\$(?:\\{([A-Za-z_][A-Za-z0-9_]*)}|([A-Za-z_][A-Za-z0-9_]*))");

  private static final String USER = "USER";
  private static final String HOME = "HOME";

  /** Which variables are replaced in it. */
  public enum Variables {
    /** By the gateway, which asks the node for these two. */
    USER_AND_HOME("where $USER and $HOME are replaced"),

    /** By the node itself, from its environment. */
    ALL("where the node's variables are replaced");

    private final String where;

    Variables(String where) {
      this.where = where;
    }

    /** Finishes the sentence "must be …". */
    public String words() {
      return "a folder on the nodes, /PATH or ~/PATH, " + where;
    }
  }

  public NodeFolder {
    Optional<String> flaw = flaw(text, Variables.USER_AND_HOME);
    if (flaw.isPresent()) {
      throw new IllegalArgumentException(flaw.get());
    }
  }

  /** Why a text is not such a folder, as a sentence without its subject. */
  public static Optional<String> flaw(String text, Variables variables) {
    return flaw(text, variables, variables.words());
  }

  /** The same for a key that takes other things, too: {@code words} say all that it must be. */
  static Optional<String> flaw(String text, String words) {
    return flaw(text, Variables.USER_AND_HOME, words);
  }

  private static Optional<String> flaw(String text, Variables variables, String words) {
    if (VARIABLE.matcher(text).replaceAll("").matches("(?s).*[{}].*")) {
      return Optional.of("has {user} or the like; write $USER");
    }
    if (!isWhole(text, variables) || text.chars().anyMatch(Character::isISOControl)) {
      String shown = CleanText.line(text);
      return Optional.of("must be " + words + ", not " + shown);
    }
    return switch (variables) {
      case ALL -> Optional.empty();
      case USER_AND_HOME ->
          VARIABLE
              .matcher(text)
              .results()
              .map(NodeFolder::name)
              .filter(name -> !name.equals(USER) && !name.equals(HOME))
              .findFirst()
              .map(name -> "$" + name + " is not known here; only $USER and $HOME are replaced");
    };
  }

  /**
   * {@code $USER/runs} is not, because a name is not a folder. Other variables may be; only the
   * node knows their values.
   */
  private static boolean isWhole(String text, Variables variables) {
    Matcher first = VARIABLE.matcher(text);
    if (!first.lookingAt()) {
      return text.startsWith("/") || text.equals("~") || text.startsWith("~/");
    }
    String name = name(first);
    boolean isAlone = first.end() == text.length() || text.charAt(first.end()) == '/';
    return isAlone && (name.equals(HOME) || (variables == Variables.ALL && !name.equals(USER)));
  }

  private static String name(MatchResult variable) {
    return Optional.ofNullable(variable.group(1)).orElseGet(() -> variable.group(2));
  }

  /** The same path on every node, whoever the user is there. */
  public boolean isPlain() {
    return !text.startsWith("~") && !VARIABLE.matcher(text).find();
  }

  /** The path on a node where the user has this home and name. */
  public String at(String home, String user) {
    String path =
        VARIABLE
            .matcher(text)
            .replaceAll(
                variable -> Matcher.quoteReplacement(name(variable).equals(USER) ? user : home));
    return text.startsWith("~") ? home + path.substring(1) : path;
  }
}
