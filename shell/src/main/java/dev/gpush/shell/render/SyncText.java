package dev.gpush.shell.render;

import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Where the files of a session stand, in sentences. */
public record SyncText(SessionName session, SyncView state) {
  /** Of the paths that are pending. */
  private static final int NAMED = 8;

  /** What {@code gpush sync status} prints. */
  public List<String> lines() {
    var lines = new ArrayList<String>();
    lines.add(session + " " + headline());
    if (!state.pending().isEmpty()) {
      int more = state.pending().size() - NAMED;
      String names = String.join(", ", state.pending().stream().limit(NAMED).toList());
      lines.add(
          "  not sent yet: " + Clean.line(names) + (more > 0 ? " and " + more + " more" : ""));
    }
    for (SyncView.Held held : state.held()) {
      if (!held.what().isEmpty()) {
        lines.add("  not sent: " + Clean.line(held.what() + ": " + held.why()));
      }
    }
    addVersions(lines);
    for (SyncView.Node node : state.nodes()) {
      if (!node.behind().isEmpty()) {
        lines.add(
            "  node "
                + node.index()
                + " has "
                + generation(node.generation())
                + ", because "
                + Clean.line(node.behind()));
      }
    }
    addStaying(lines);
    for (SyncView.Trash trash : state.versions().trashes()) {
      lines.add(
          "  trash "
              + trash.node().map(node -> "of node " + node).orElse("here")
              + ": "
              + trash.files()
              + (trash.files() == 1 ? " file, " : " files, ")
              + Phrase.size(trash.bytes())
              + ", in "
              + Clean.line(trash.folder()));
    }
    state.limitation().ifPresent(text -> lines.add("  " + Clean.line(text)));
    if (!state.history().isEmpty()) {
      lines.add("  git: " + Clean.line(state.history()));
    }
    return lines;
  }

  private void addVersions(List<String> lines) {
    List<HeldPath> held = state.versions().held();
    held.stream()
        .limit(NAMED)
        .forEach(each -> lines.add("  held: " + Clean.line(each.path() + ": " + each.why())));
    if (held.size() > NAMED) {
      lines.add("  and " + (held.size() - NAMED) + " more; gpush sync status --json has them all");
    }
    if (!held.isEmpty()) {
      lines.add(
          "  gpush sync --keep laptop PATH sends what is here, --keep node PATH takes node 0's");
    }
  }

  private void addStaying(List<String> lines) {
    state.staying().stream()
        .limit(NAMED)
        .forEach(
            each ->
                lines.add(
                    "  new on node 0, and stays there: "
                        + Clean.line(each.what() + ": " + each.why())));
    int more = state.staying().size() - NAMED;
    if (more > 0) {
      lines.add("  and " + more + " more; gpush sync status --json has them all");
    }
    if (!state.staying().isEmpty()) {
      lines.add("  gpush pull PATH fetches what you want of it");
    }
  }

  private String headline() {
    String all = everywhere() ? "all nodes have " : "the newest on a node is ";
    String has = all + generation(state.generation());
    return switch (state.mode()) {
      case OFF -> "sends files at up, run and sync only; " + has;
      case PAUSED -> "is paused; " + has + pendingClause();
      case LIVE ->
          state.isSynced() ? "is synced: " + has : "is not synced; " + has + pendingClause();
    };
  }

  private String pendingClause() {
    Optional<String> why = reason();
    if (state.pending().isEmpty()) {
      return why.map(text -> "; " + Clean.line(text)).orElse("");
    }
    return ", "
        + files(state.pending().size())
        + why.map(text -> " held: " + Clean.line(text)).orElse(" on the way");
  }

  private Optional<String> reason() {
    return state.held().stream()
        .filter(held -> held.what().isEmpty())
        .map(SyncView.Held::why)
        .findFirst();
  }

  private boolean everywhere() {
    return state.nodes().stream().allMatch(node -> node.generation().equals(state.generation()));
  }

  private static String generation(Optional<Long> held) {
    return held.map(number -> "G" + number).orElse("G?");
  }

  private static String files(int count) {
    return count == 1 ? "1 file" : count + " files";
  }

  /** For the prompt: {@code ✓G42}, {@code 3 files held, run 7 on G41}. */
  public String prompt() {
    if (state.isSynced()) {
      return "✓" + generation(state.generation());
    }
    if (!state.pending().isEmpty()) {
      return files(state.pending().size())
          + (reason().isPresent() ? " held" : " on the way")
          + reason().filter(why -> why.startsWith("run ")).map(why -> ", " + why).orElse("");
    }
    if (!state.versions().held().isEmpty()) {
      return files(state.versions().held().size()) + " held";
    }
    long having =
        state.nodes().stream().filter(node -> node.generation().equals(state.generation())).count();
    return having == state.nodes().size()
        ? generation(state.generation())
        : generation(state.generation()) + " on " + having + " of " + state.nodes().size();
  }
}
