package dev.gpush.gateway.session.live;

import dev.gpush.core.config.Config;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SyncView;
import dev.gpush.gateway.session.saves.SessionPort;
import dev.gpush.launch.Launcher;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** When a session's saves may be sent. */
final class SessionSaves implements SessionPort {
  /** What {@code sync.while-running} says. */
  enum WhileRunning {
    /** Hold where a run is on several nodes. */
    USUAL,
    HOLD,
    APPLY,
    /** Runs have files of their own. */
    ISOLATE;

    static WhileRunning of(Config config) {
      return switch (config.text("sync.while-running").orElse("")) {
        case "hold" -> HOLD;
        case "apply" -> APPLY;
        case "isolate" -> ISOLATE;
        default -> USUAL;
      };
    }
  }

  private static final System.Logger LOG = System.getLogger("gpush.sync");

  /** It is there while a user has paused saves. */
  private static final String PAUSED = "sync-paused";

  private final LiveSession session;
  private final Launcher launcher;
  private final AtomicInteger launching = new AtomicInteger();
  private final Path paused;
  private final WhileRunning whileRunning;

  /**
   * @param folder of the session
   */
  SessionSaves(LiveSession session, Launcher launcher, WhileRunning whileRunning, Path folder) {
    this.paused = folder.resolve(PAUSED);
    this.session = session;
    this.launcher = launcher;
    this.whileRunning = whileRunning;
  }

  /**
   * Of a session.
   *
   * @param folder as that of the constructor
   */
  static SyncView.Mode mode(boolean isLive, Path folder) {
    if (!isLive) {
      return SyncView.Mode.OFF;
    }
    return Files.exists(folder.resolve(PAUSED)) ? SyncView.Mode.PAUSED : SyncView.Mode.LIVE;
  }

  /** Whether runs are to have files of their own. */
  boolean isolates() {
    return whileRunning == WhileRunning.ISOLATE;
  }

  /** For a later gateway. */
  void rememberPaused(boolean is) {
    try {
      if (is) {
        Files.createDirectories(Objects.requireNonNull(paused.getParent()));
        Files.writeString(paused, "");
      } else {
        Files.deleteIfExists(paused);
      }
    } catch (IOException unwritten) {
      LOG.log(System.Logger.Level.WARNING, "cannot remember that sync is paused", unwritten);
    }
  }

  /** A launch that may wait for a long time begins or ends: its files are on the nodes already. */
  void launching(int more) {
    launching.addAndGet(more);
  }

  @Override
  public Optional<String> closed() {
    if (session.isClosed() || session.isOver()) {
      return Optional.of("the session has ended");
    }
    if (session.superseded().isPresent()) {
      return Optional.of("another gateway has the session");
    }
    if (session.entry().state() != SessionState.READY) {
      return Optional.of("the session is not ready");
    }
    if (session.entry().status().foreign()) {
      return Optional.of("the nodes have files that were sent from elsewhere; gpush sync asks");
    }
    return hasFiles() ? Optional.empty() : Optional.of("nothing was sent yet");
  }

  /** The first push is one of a command: only that may ask. */
  private boolean hasFiles() {
    boolean isPushed = session.workIfAny().map(SessionWork::hasFiles).orElse(false);
    return isPushed
        || session.links().stream()
            .map(link -> link.state())
            .anyMatch(
                state ->
                    state instanceof LinkState.Up(var welcome, _)
                        && welcome.number("generation").orElse(0L) > 0);
  }

  @Override
  public Optional<Turn> tryBegin() {
    return session.tryBegin("a save").map(turn -> turn::close);
  }

  @Override
  public void awaitTurn(Duration limit) {
    session.awaitTurn(limit);
  }

  @Override
  public Optional<String> holdingRun() {
    if (launching.get() > 0) {
      return Optional.of("a run waits for its nodes");
    }
    if (whileRunning == WhileRunning.APPLY) {
      return Optional.empty();
    }
    List<RunView> running =
        launcher.running().stream()
            .filter(run -> run.kind() == RunKind.PROGRAM)
            .filter(run -> !run.launched().fromSnapshot())
            .toList();
    boolean isOneNode = session.links().size() == 1;
    if (running.isEmpty() || (isOneNode && whileRunning == WhileRunning.USUAL)) {
      return Optional.empty();
    }
    RunView first = running.getFirst();
    String others = running.size() == 1 ? "" : " and " + (running.size() - 1) + " more";
    return Optional.of("run " + first.number() + " on G" + first.generation() + others);
  }

  @Override
  public boolean used() throws InterruptedException {
    // One is enough: the nodes of a gang are idle together.
    for (Link link : session.links()) {
      if (link.state() instanceof LinkState.Up) {
        link.call("active", Json.object());
        return true;
      }
    }
    return false;
  }

  @Override
  public void changed() {
    session.changed();
  }

  @Override
  public boolean isLost(int node) {
    return session.isLost(node);
  }
}
