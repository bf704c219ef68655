package dev.gpush.gateway.session;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.Runs.Picture;
import dev.gpush.core.run.Runs.Pictures;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.Came;
import dev.gpush.core.task.ChangeSignal;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionRegistry;
import dev.gpush.gateway.session.live.SessionWork;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;

/** Sessions as a terminal shows them by itself: always those of one folder. For one thread. */
final class SessionPictures implements Pictures {
  private final UnaryOperator<Path> rootOf;
  private final SessionRegistry registry;
  private final SessionViews views;
  private Optional<Path> root = Optional.empty();

  SessionPictures(UnaryOperator<Path> rootOf, SessionRegistry registry, SessionViews views) {
    this.rootOf = rootOf;
    this.registry = registry;
    this.views = views;
  }

  @Override
  public ChangeSignal changes() {
    return registry.changes();
  }

  @Override
  public Picture of(Optional<String> name, Path folder) {
    LiveSession session;
    try {
      session = find(name, folder);
    } catch (GpushException none) {
      return new Picture(Optional.empty(), List.of(), Came.nothing(), registry.ended(), sizes());
    }
    Optional<SessionWork> work = session.workIfAny();
    List<RunView> runs = work.map(each -> each.launcher().list()).orElse(List.of());
    Came came = work.map(each -> each.live().came()).orElseGet(Came::nothing);
    SessionView view = views.glance(session);
    return new Picture(Optional.of(view), runs, came, registry.ended(), sizes());
  }

  private Map<String, Integer> sizes() {
    var sizes = new HashMap<String, Integer>();
    for (LiveSession session : registry.all()) {
      sizes.put(
          session.name().text(),
          session.entry().grant().map(gang -> gang.nodes().size()).orElse(0));
    }
    return sizes;
  }

  /** The folder's configuration is read once, not at each look. */
  private LiveSession find(Optional<String> name, Path folder) {
    if (name.isPresent()) {
      return registry.named(SessionName.parse(name.get()));
    }
    root = root.or(() -> Optional.of(rootOf.apply(folder)));
    return registry.of(root.get());
  }
}
