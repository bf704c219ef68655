package dev.gpush.shell.render;

import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs.Picture;
import dev.gpush.core.session.NodeView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.Came;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.DurationText;
import dev.gpush.shell.text.LastSeen;
import dev.gpush.shell.text.RunFailureText;
import dev.gpush.shell.text.ShellEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** What has happened between two looks at a session, in words. */
public final class PictureChanges {
  private static final Set<SessionState> BEGINNING =
      Set.of(SessionState.ASKED, SessionState.QUEUED, SessionState.GRANTED);

  /** This many files are named. */
  private static final int NAMED = 3;

  /** The estimate in "4 of 19 · ≈14:20 · …", and how many wait. */
  private static final Pattern MOVING = Pattern.compile("≈[^·]*· ?|(?<=[0-9]) of [0-9]+(?= ·)");

  private static final String UP = "up";

  private final SessionView before;
  private final SessionView now;
  private final Function<Instant, String> time;
  private final List<ShellEvent> events = new ArrayList<>();

  private PictureChanges(SessionView before, SessionView now, Function<Instant, String> time) {
    this.before = before;
    this.now = now;
    this.time = time;
  }

  /**
   * In the order in which a user wants to read them.
   *
   * @param time as the user reads it
   */
  public static List<ShellEvent> between(
      LastSeen before, Picture now, Function<Instant, String> time) {
    String name = before.name();
    Optional<SessionView> is = now.session().filter(view -> view.id().equals(before.id()));
    if (is.isEmpty()) {
      boolean isReplaced =
          now.session().filter(view -> view.name().text().equals(name)).isPresent();
      String what = isReplaced ? "the " + name + " before this one" : name;
      return now.ended().stream()
          .filter(ended -> ended.id().equals(before.id()))
          .map(
              ended ->
                  ended.why().isEmpty()
                      ? ShellEvent.ofCommand("end " + name, what + " was given back")
                      : ShellEvent.of("end " + name, what + " has ended: " + ended.why()))
          .toList();
    }
    // A gateway that is new has brought home itself what came, and changed nothing else.
    SessionView was = before.picture().flatMap(Picture::session).orElse(is.get());
    var changes = new PictureChanges(was, is.get(), time);
    changes.addRuns(before, now.runs());
    changes.addCame(before.picture().map(Picture::came).orElseGet(Came::nothing), now.came());
    changes.addHeld();
    changes.addNodes();
    changes.addBehind();
    changes.addQueue();
    changes.addLease();
    return changes.events;
  }

  /** The key of the end of a run; a shell that follows the run is told by that command. */
  public static String keyOfEnd(RunView run) {
    return "run " + run.session() + "/" + run.number() + " of " + run.started().toEpochMilli();
  }

  /** The key of its place in a queue, which means nothing when it waits no more. */
  public static String keyOfQueue(SessionView session) {
    return "queue " + session.name();
  }

  private void addRuns(LastSeen seen, List<RunView> runs) {
    for (RunView run : runs.reversed()) {
      if (run.isOver() && !seen.isOver(run.number())) {
        String line = label(run) + verdict(run);
        boolean isSaid = run.state() == RunView.State.STOPPED;
        events.add(new ShellEvent(keyOfEnd(run), line, isSaid, 1, List.of()));
      }
    }
  }

  private static String label(RunView run) {
    Instant end = run.progress().ended().orElse(run.started());
    return run.label(Duration.between(run.started(), end));
  }

  private static String verdict(RunView run) {
    if (run.failure().isPresent()) {
      return " failed: " + new RunFailureText(run.failure().get()).line();
    }
    int status = run.exit().orElse(0);
    return switch (run.state()) {
      case STOPPED -> " was stopped";
      case LOST -> " is lost, because its node is lost";
      case STARTING, RUNNING, STOPPING, DONE, FAILED, UNKNOWN ->
          status == 0 ? " is done" : " ended with status " + status;
    };
  }

  private void addCame(Came was, Came is) {
    long count = is.count() - was.count();
    if (count <= 0) {
      return;
    }
    List<String> last = is.last().stream().limit(count).toList();
    long again = last.size() - last.stream().distinct().count();
    boolean areSaid = count == is.said() - was.said();
    String alone = count == 1 ? "came " + last.getFirst() : "came";
    // Another one each time: its shell leaves out only what is said soon after the command.
    String key = areSaid ? "came by a command " + is.count() : alone;
    events.add(
        new ShellEvent(
            key,
            "came home from node " + now.sync().editNode(),
            areSaid,
            (int) (count - again),
            last));
  }

  private void addHeld() {
    Set<String> known =
        before.sync().versions().held().stream().map(HeldPath::path).collect(Collectors.toSet());
    List<HeldPath> fresh =
        now.sync().versions().held().stream().filter(held -> !known.contains(held.path())).toList();
    fresh.stream()
        .limit(NAMED)
        .forEach(
            held ->
                events.add(
                    ShellEvent.of(
                        "held " + held.path(),
                        held.path()
                            + " is held: "
                            + held.why(time)
                            + "; gpush sync status says what to do")));
    if (fresh.size() > NAMED) {
      events.add(ShellEvent.of("held", (fresh.size() - NAMED) + " more files are held"));
    }
  }

  private void addNodes() {
    if (!now.state().hasNodes()) {
      return;
    }
    var changed = new TreeMap<String, List<String>>();
    for (int i = 0; i < Math.min(before.nodes().size(), now.nodes().size()); i++) {
      NodeView node = now.nodes().get(i);
      String was = before.nodes().get(i).link();
      if (!was.equals(node.link()) && (was.equals(UP) || isBack(was, node.link()))) {
        changed.computeIfAbsent(node.link(), _ -> new ArrayList<>()).add("" + node.info().index());
      }
    }
    changed.forEach((link, nodes) -> addNodes(link, nodes));
  }

  private static boolean isBack(String was, String is) {
    return is.equals(UP) && !was.equals("idle");
  }

  private void addNodes(String link, List<String> nodes) {
    boolean isOne = nodes.size() == 1;
    String names = (isOne ? "node " : "nodes ") + String.join(", ", nodes);
    String text =
        switch (link) {
          case UP -> names + (isOne ? " is" : " are") + " connected again";
          case "cut" ->
              "lost the connection to "
                  + names
                  + "; what runs there goes on, and gpush tries again";
          case "needs you" ->
              names + " cannot be reached without you: gpush login " + now.backend();
          default -> names + (isOne ? " is" : " are") + " gone: " + now.detail();
        };
    if (!link.equals("idle")) {
      events.add(ShellEvent.of(names, text));
    }
  }

  /** Nodes that are connected, and still were left out. */
  private void addBehind() {
    Map<Integer, SyncView.Node> known =
        before.sync().nodes().stream()
            .collect(Collectors.toMap(SyncView.Node::index, Function.identity()));
    for (SyncView.Node node : now.sync().nodes()) {
      boolean wasBehind =
          Optional.ofNullable(known.get(node.index()))
              .map(was -> !was.behind().isEmpty())
              .orElse(true);
      boolean isUp =
          now.nodes().stream()
              .anyMatch(each -> each.info().index() == node.index() && each.link().equals(UP));
      String key = "behind " + node.index();
      if (!node.behind().isEmpty() && !wasBehind && isUp) {
        String has = node.generation().map(number -> " at G" + number).orElse("");
        events.add(
            ShellEvent.of(
                key,
                "node "
                    + node.index()
                    + " is left out of saves"
                    + has
                    + ", because "
                    + node.behind()));
      } else if (node.behind().isEmpty() && wasBehind && known.containsKey(node.index()) && isUp) {
        events.add(ShellEvent.of(key, "node " + node.index() + " gets saves again"));
      }
    }
  }

  private void addQueue() {
    if (now.state() == SessionState.QUEUED && !kept(now).equals(kept(before))) {
      events.add(ShellEvent.ofCommand(keyOfQueue(now), now.name() + " is queued: " + now.detail()));
    }
    if (now.state() == SessionState.READY && BEGINNING.contains(before.state())) {
      String what = now.shape() + " on " + now.backend();
      events.add(ShellEvent.ofCommand("ready " + now.name(), now.name() + " is ready: " + what));
    }
  }

  /** What it waits for, without what moves all the time and is in the prompt. */
  private static String kept(SessionView session) {
    return MOVING.matcher(session.detail()).replaceAll("");
  }

  private void addLease() {
    near(before.hardEndLeft(), now.hardEndLeft())
        .ifPresent(
            left ->
                events.add(
                    ShellEvent.of(
                        "lease",
                        now.name()
                            + " ends in "
                            + left
                            + "; gpush extend --for 2h moves that where it can be moved")));
    Optional<Duration> idle =
        now.idleLeft()
            .filter(left -> now.hardEndLeft().map(end -> left.compareTo(end) < 0).orElse(true));
    near(before.idleLeft(), idle)
        .ifPresent(
            left ->
                events.add(
                    ShellEvent.of(
                        "idle",
                        now.name()
                            + " is given back in "
                            + left
                            + ", because nothing uses it; gpush extend keeps it")));
  }

  /** What is left, where it has passed one of the warnings since. */
  private Optional<String> near(Optional<Duration> was, Optional<Duration> is) {
    return is.filter(left -> was.map(more -> hasWarning(left, more)).orElse(false))
        .map(DurationText::coarse);
  }

  private boolean hasWarning(Duration from, Duration below) {
    return now.lease().warnings().stream()
        .anyMatch(length -> from.compareTo(length) <= 0 && length.compareTo(below) < 0);
  }
}
