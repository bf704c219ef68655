package dev.gpush.gateway.session;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.CleanText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What keeps a session, or since when nothing does, in words; from node 0's status. */
final class ActivityText {
  /** Until then the last keystroke is called activity, and not its end. */
  private static final Duration JUST_NOW = Duration.ofMinutes(1);

  private static final String USES = " uses ";
  private static final int LONGEST = 100;
  private static final int MOST_CLIENTS = 4;

  private ActivityText() {}

  /**
   * {@code busy: run 7}, or {@code idle for 40m, since keys in a terminal; VS Code is connected and
   * silent}; empty when the agent does not say.
   */
  static String ofSession(Json status) {
    var clients = new LinkedHashSet<String>(status.texts("clients"));
    Json nodes = status.object("nodes_idle");
    nodes.entries().values().forEach(node -> clients.addAll(node.texts("clients")));
    return sentence(status, status.text("idle_because").orElse(""), clients);
  }

  /** {@code run 7}, {@code idle 40m}; empty when it is not known. */
  static String ofNode(Json status, int node) {
    Json nodes = status.object("nodes_idle");
    Json own = nodes.object(Integer.toString(node));
    boolean isAlone = nodes.entries().isEmpty() && node == 0;
    Json said = isAlone ? status : own;
    Optional<Duration> since = since(said);
    if (since.isEmpty()) {
      return "";
    }
    String why = said.text(isAlone ? "idle_because" : "why").orElse("");
    boolean isActive = said.flag("busy") || isJustNow(since.get(), why);
    return isActive ? clean(why) : "idle " + DurationText.coarse(since.get());
  }

  private static String sentence(Json said, String why, Set<String> clients) {
    Optional<Duration> since = since(said);
    if (since.isEmpty()) {
      return "";
    }
    if (said.flag("busy")) {
      return "busy: " + clean(why);
    }
    if (isJustNow(since.get(), why)) {
      return "active: " + clean(why);
    }
    String idle = "idle for " + DurationText.coarse(since.get()) + ", since " + past(why);
    return clients.isEmpty() ? idle : idle + "; " + connected(List.copyOf(clients));
  }

  /** What is known to have ended has no moment in which it goes on. */
  private static boolean isJustNow(Duration since, String why) {
    boolean hasEnded = why.startsWith("run ") || why.contains(USES);
    return !hasEnded && since.compareTo(JUST_NOW) < 0;
  }

  private static String connected(List<String> clients) {
    var names = new ArrayList<String>();
    clients.stream().limit(MOST_CLIENTS).map(ActivityText::clean).forEach(names::add);
    String last = names.removeLast();
    return names.isEmpty()
        ? last + " is connected and silent"
        : String.join(", ", names) + " and " + last + " are connected and silent";
  }

  private static Optional<Duration> since(Json said) {
    return said.number("idle_for_s").map(Duration::ofSeconds);
  }

  private static String past(String why) {
    return clean(why).replaceFirst(USES, " used ");
  }

  /** The agents' own words for what is no activity of a user. */
  private static String clean(String why) {
    return switch (why) {
      case "attached", "started" -> "its start";
      case "renewed" -> "gpush extend";
      default -> CleanText.line(why, LONGEST);
    };
  }
}
