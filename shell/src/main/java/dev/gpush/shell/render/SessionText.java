package dev.gpush.shell.render;

import dev.gpush.core.run.RunView;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.text.Width;
import java.time.Duration;
import java.util.List;

/** Short texts about a session: its lease, and the prompt. */
public final class SessionText {
  private static final int PROMPT_COLUMNS = 64;

  /** Of what is said beside other things. */
  private static final int DETAIL_COLUMNS = 36;

  private SessionText() {}

  /**
   * What is left of the lease: {@code 5h12m}, {@code 48m idle}, or both; empty when nothing ends it
   * now.
   */
  public static String lease(SessionView session) {
    String hard = session.hardEndLeft().map(DurationText::coarse).orElse("");
    String idle =
        session
            .idleLeft()
            .filter(left -> session.hardEndLeft().map(end -> left.compareTo(end) < 0).orElse(true))
            .map(left -> DurationText.coarse(left) + " idle")
            .orElse("");
    return hard + (hard.isEmpty() || idle.isEmpty() ? "" : ", ") + idle;
  }

  /**
   * {@code devbox 2×8 H100 · 5h12m left · ✓G42 > }, as product.md has it; ps has the whole text.
   */
  public static String prompt(SessionView session, List<RunView> runs) {
    return session.name() + " " + Clean.line(standing(session, runs)) + " > ";
  }

  private static String standing(SessionView session, List<RunView> runs) {
    if (session.status().needsLogin().isPresent()) {
      return "needs you: " + detail(session) + ". Nothing is lost";
    }
    return switch (session.state()) {
      case READY -> session.shape() + end(session) + " · " + holds(session, runs);
      case QUEUED -> queued("queued " + session.detail());
      case DEGRADED, LEAKED, ASKED, GRANTED, RELEASING, RELEASED -> other(session);
    };
  }

  /** Without its last part, what the scheduler calls it, where only the others fit. */
  private static String queued(String text) {
    int last = text.lastIndexOf(" · ");
    boolean isEnough = last >= PROMPT_COLUMNS / 2 && Width.of(text) > PROMPT_COLUMNS;
    return Width.cut(isEnough ? text.substring(0, last) : text, PROMPT_COLUMNS);
  }

  private static String other(SessionView session) {
    String detail = session.detail();
    String word = session.state() == SessionState.GRANTED ? "is starting" : session.state().word();
    return Width.cut(word + (detail.isEmpty() ? "" : ": " + detail), PROMPT_COLUMNS);
  }

  private static String end(SessionView session) {
    return session.detail().isEmpty() ? left(session) : " · " + detail(session) + "!";
  }

  private static String detail(SessionView session) {
    return Width.cut(session.detail(), DETAIL_COLUMNS);
  }

  private static String left(SessionView session) {
    if (session.hardEndLeft().isPresent()) {
      Duration hard = session.hardEndLeft().get();
      return " · "
          + DurationText.coarse(hard)
          + " left"
          + (session.lease().isNear(hard) ? "!" : "");
    }
    return session
        .idleLeft()
        .filter(session.lease()::isNear)
        .map(idle -> " · idle, " + DurationText.coarse(idle) + " left!")
        .orElse("");
  }

  private static String holds(SessionView session, List<RunView> runs) {
    return holds(session) + at(runs);
  }

  private static String holds(SessionView session) {
    if (session.generation().isEmpty()) {
      return "G?";
    }
    long latest = session.generation().get();
    if (latest == 0) {
      return "nothing sent yet";
    }
    if (session.sync().mode() != SyncView.Mode.OFF) {
      return new SyncText(session.sync()).prompt();
    }
    // Without a watcher nobody knows whether this is the last save, so there is no tick.
    List<NodeView> nodes = session.nodes();
    long having =
        nodes.stream().filter(node -> node.generation().equals(session.generation())).count();
    return "G" + latest + (having == nodes.size() ? "" : " on " + having + " of " + nodes.size());
  }

  private static String at(List<RunView> runs) {
    if (runs.isEmpty()) {
      return "";
    }
    return runs.size() == 1
        ? ", run " + runs.getFirst().number() + " on G" + runs.getFirst().generation()
        : ", " + runs.size() + " runs";
  }
}
