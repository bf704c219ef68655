package dev.gpush.shell.render;

import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.Phrase;
import dev.gpush.core.text.SessionCommands;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Where the files of a session stand, in sentences, and in signs for the prompt. */
public record SyncText(SyncView state) {
  /** Of paths that a line, or a group of lines, names. */
  private static final int NAMED = 8;

  /** Of nodes that are behind. */
  private static final int NUMBERED = 4;

  private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss");

  // ---- for the prompt

  /**
   * {@code ✓G42} if all have the same; else what is on its way to the nodes (↑) and from the
   * editors' node (↓), what is held, and which nodes are behind: {@code ↑3 ↓, 2 held, node 3
   * behind}.
   */
  public String prompt() {
    if (state.isSynced()) {
      return "✓" + generation(state.generation());
    }
    var parts = new ArrayList<String>();
    String moving = moving();
    if (!moving.isEmpty()) {
      parts.add(moving);
    } else if (state.mode() == SyncView.Mode.PAUSED) {
      parts.add(generation(state.generation()) + " paused");
    }
    if (!state.versions().held().isEmpty()) {
      parts.add(state.versions().held().size() + " held");
    }
    if (!unsent().isEmpty()) {
      parts.add(unsent().size() + " not sent");
    }
    behind().ifPresent(parts::add);
    return parts.isEmpty() ? generations() : String.join(", ", parts);
  }

  private String moving() {
    String out = state.pending().isEmpty() ? "" : "↑" + state.pending().size();
    String in = isIncoming() ? "↓" : "";
    String moving = out.isEmpty() || in.isEmpty() ? out + in : out + " " + in;
    boolean isWaiting =
        state.incoming() == SyncView.Incoming.WAITING
            || (!out.isEmpty() && state.waitsFor().isPresent());
    if (moving.isEmpty() || !isWaiting) {
      return moving;
    }
    return moving + (state.mode() == SyncView.Mode.PAUSED ? " paused" : " waiting");
  }

  private String generations() {
    long having =
        state.nodes().stream().filter(node -> node.generation().equals(state.generation())).count();
    return generation(state.generation())
        + (having == state.nodes().size() ? "" : " on " + having + " of " + state.nodes().size());
  }

  // ---- in a sentence

  /** After the name of the session: {@code is synced: all nodes have G42}. */
  public String headline() {
    boolean isEverywhere =
        state.nodes().stream().allMatch(node -> node.generation().equals(state.generation()));
    String has =
        (isEverywhere ? "all nodes have " : "the newest on a node is ")
            + generation(state.generation());
    return switch (state.mode()) {
      case OFF -> "sends files at up, run and sync only; " + has;
      case PAUSED -> "is paused; " + has + clauses();
      case LIVE -> state.isSynced() ? "is synced: " + has : "is not synced; " + has + clauses();
    };
  }

  private String clauses() {
    boolean isOut = !state.pending().isEmpty();
    boolean isWaiting = state.incoming() == SyncView.Incoming.WAITING;
    Optional<String> why = state.waitsFor().map(Clean::line);
    var clauses = new ArrayList<String>();
    if (isOut) {
      clauses.add(
          Phrase.counted(state.pending().size(), "file")
              + " on the way to the nodes"
              + why.map(text -> ", waiting: " + text).orElse(""));
    }
    if (isIncoming()) {
      String reason = why.filter(_ -> !isOut).map(text -> ": " + text).orElse("");
      clauses.add(
          "changes on " + there() + " on the way here" + (isWaiting ? ", waiting" + reason : ""));
    }
    if (!isOut && !isWaiting) {
      why.ifPresent(clauses::add);
    }
    if (!state.versions().held().isEmpty()) {
      clauses.add(Phrase.counted(state.versions().held().size(), "file") + " held");
    }
    if (!unsent().isEmpty()) {
      clauses.add(Phrase.counted(unsent().size(), "file") + " not sent");
    }
    behind().ifPresent(clauses::add);
    return clauses.isEmpty() ? "" : "; " + String.join("; ", clauses);
  }

  // ---- below that

  /**
   * What {@code gpush sync status} prints below its first line.
   *
   * @param zone in which times are shown
   */
  public List<String> details(ZoneId zone, SessionCommands commands) {
    var lines = new ArrayList<String>();
    if (!state.pending().isEmpty()) {
      int more = state.pending().size() - NAMED;
      String names = String.join(", ", state.pending().stream().limit(NAMED).toList());
      lines.add(
          "on the way to the nodes: "
              + Clean.line(names)
              + (more > 0 ? " and " + more + " more" : ""));
    }
    for (SyncView.Held each : unsent()) {
      lines.add("not sent: " + Clean.line(each.what() + ": " + each.why()));
    }
    addHeld(lines, zone, commands);
    for (SyncView.Node node : state.nodes()) {
      if (!node.behind().isEmpty()) {
        lines.add(
            "node "
                + node.index()
                + " has "
                + generation(node.generation())
                + ", because "
                + Clean.line(node.behind()));
      }
    }
    addStaying(lines, commands);
    for (SyncView.Trash trash : state.versions().trashes()) {
      lines.add(
          "trash "
              + trash.node().map(node -> "of node " + node).orElse("here")
              + ": "
              + Phrase.counted(trash.files(), "file")
              + ", "
              + Phrase.size(trash.bytes())
              + ", in "
              + Clean.line(trash.folder()));
    }
    state.limitation().map(Clean::line).ifPresent(lines::add);
    if (!state.history().isEmpty()) {
      lines.add("git: " + Clean.line(state.history()));
    }
    return lines;
  }

  /** Times as a user reads them. */
  public static Function<Instant, String> time(ZoneId zone) {
    return TIME.withZone(zone)::format;
  }

  private void addHeld(List<String> lines, ZoneId zone, SessionCommands commands) {
    List<HeldPath> held = state.versions().held();
    held.stream()
        .limit(NAMED)
        .forEach(
            each -> lines.add("held: " + Clean.line(each.path() + ": " + each.why(time(zone)))));
    if (held.size() > NAMED) {
      lines.add("and " + (held.size() - NAMED) + " more; " + all(commands));
    }
    if (!held.isEmpty()) {
      lines.add(
          commands.of("sync --keep laptop PATH")
              + " sends what is here, --keep node PATH takes "
              + there()
              + "'s");
    }
  }

  private void addStaying(List<String> lines, SessionCommands commands) {
    state.staying().stream()
        .limit(NAMED)
        .forEach(
            each ->
                lines.add(
                    "new on "
                        + there()
                        + ", and stays there: "
                        + Clean.line(each.what() + ": " + each.why())));
    int more = state.staying().size() - NAMED;
    if (more > 0) {
      lines.add("and " + more + " more; " + all(commands));
    }
    if (!state.staying().isEmpty()) {
      lines.add(commands.of("pull PATH") + " fetches what you want of it");
    }
  }

  private static String all(SessionCommands commands) {
    return commands.of("sync status --json") + " has them all";
  }

  // ---- parts

  /** Where people edit. */
  private String there() {
    return "node " + state.editNode();
  }

  private boolean isIncoming() {
    return state.incoming() != SyncView.Incoming.NONE;
  }

  /** What a save leaves out, until a user or time decides. */
  private List<SyncView.Held> unsent() {
    return state.held().stream().filter(each -> !each.what().isEmpty()).toList();
  }

  /** {@code node 3 behind}, {@code nodes 1 and 3 behind}. */
  private Optional<String> behind() {
    List<String> behind =
        state.nodes().stream()
            .filter(node -> !node.behind().isEmpty())
            .map(node -> "" + node.index())
            .toList();
    if (behind.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        behind.size() > NUMBERED
            ? behind.size() + " nodes behind"
            : (behind.size() == 1 ? "node " : "nodes ") + Phrase.and(behind) + " behind");
  }

  private static String generation(Optional<Long> held) {
    return held.map(number -> "G" + number).orElse("G?");
  }
}
