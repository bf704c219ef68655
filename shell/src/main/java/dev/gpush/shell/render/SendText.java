package dev.gpush.shell.render;

import dev.gpush.core.session.SendReason;
import dev.gpush.core.session.SendReason.Kind;
import dev.gpush.core.session.SendReason.Rule;
import dev.gpush.core.text.Clean;
import java.util.Optional;

/**
 * Why a path is sent or not, in a sentence.
 *
 * @param root of the workspace, as the user writes it
 */
public record SendText(SendReason reason, String root) {
  /** What {@code gpush sync --explain} prints. */
  public String line() {
    return Clean.line(name() + " " + sentence());
  }

  private String name() {
    return reason.path().isEmpty() ? "." : reason.path();
  }

  private String sentence() {
    return switch (reason.verdict()) {
      case SENT -> sent();
      case TRACKED -> is() + "sent: git tracks it" + although();
      case LARGE -> is() + "sent only after a question: " + reason.detail() + " (sync.ask-over)";
      case TRACKED_ONLY -> is() + "ignored by " + rule() + "; in it, only what git tracks is sent";
      case IGNORED -> isNot() + "sent: " + rule() + " ignores " + ignored();
      case NEVER -> isNot() + "sent: the name " + rule() + " is never sent" + remedy();
      case LEADS_OUT ->
          isNot() + "sent: it is a link that points out of the workspace, to " + reason.detail();
      case NO_REGULAR_FILE -> isNot() + "sent: it is no regular file, folder or link";
      case BEHIND_LINK ->
          isNot() + "sent: " + reason.at() + " is a link, and links are not followed";
      case BELOW_FILE -> "is not there: " + reason.at() + " is no folder";
      case OUTSIDE -> isNot() + "sent: it is outside the workspace " + root;
    };
  }

  private String sent() {
    String why =
        reason.rule().map(rule -> rule.text() + " includes it").orElse("no rule ignores it");
    return switch (reason.kind()) {
      case FOLDER -> "is looked into, and what no rule ignores in it is sent: " + why;
      case LINK -> "is sent as a link to " + reason.detail() + ": " + why;
      case FILE, OTHER, MISSING -> is() + "sent: " + why;
    };
  }

  private String is() {
    return reason.kind() == Kind.MISSING ? "is not there; it would be " : "is ";
  }

  private String isNot() {
    return reason.kind() == Kind.MISSING ? "is not there; it would not be " : "is not ";
  }

  private String rule() {
    return reason.rule().map(Rule::text).orElse("git");
  }

  private String ignored() {
    return reason.at().equals(reason.path()) ? "it" : reason.at();
  }

  private String although() {
    Optional<Rule> ignoring = reason.rule().filter(rule -> !rule.includes());
    return ignoring.map(rule -> ", although " + rule.text() + " ignores " + ignored()).orElse("");
  }

  private String remedy() {
    Optional<String> pattern = reason.rule().map(Rule::pattern);
    boolean isOpen = pattern.isPresent() && !SendReason.ALWAYS.contains(pattern.get());
    return isOpen ? "; the line !" + pattern.get() + " in .gpushignore sends it" : "";
  }
}
