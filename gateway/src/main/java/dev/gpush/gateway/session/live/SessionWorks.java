package dev.gpush.gateway.session.live;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.fabric.FabricPlans;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.PortTarget;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.history.SessionHistory;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.ledger.SessionFiles;
import dev.gpush.gateway.session.saves.EditNode;
import dev.gpush.launch.Launcher;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.LinkNode;
import dev.gpush.launch.node.NodeEnvironments;
import dev.gpush.link.Link;
import dev.gpush.sync.WorkspaceSync;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.home.Editors;
import dev.gpush.sync.home.LocalTrash;
import dev.gpush.sync.node.LinkSyncNode;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.scan.FolderListener;
import dev.gpush.sync.scan.ScanLimits;
import dev.gpush.sync.scan.TreeScan;
import dev.gpush.sync.tree.Merge;
import dev.gpush.sync.watch.TreeWatcher;
import dev.gpush.sync.watch.WatchTiming;
import dev.gpush.sync.watch.Watchers;
import dev.gpush.sync.watch.WorkspaceWatch;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Makes sync and launch for a session whose nodes are linked. */
public final class SessionWorks {
  /** Where the configuration cannot be read. */
  private static final long LARGEST_NEW = 1_000_000;

  private final Path home;
  private final GitPlaces gitPlaces;
  private final Configs configs;
  private final FabricPlans plans;
  private final Clock clock;
  private final Tasks tasks;

  public SessionWorks(
      Path home,
      GitPlaces gitPlaces,
      Configs configs,
      FabricPlans plans,
      Clock clock,
      Tasks tasks) {
    this.home = home;
    this.gitPlaces = gitPlaces;
    this.configs = configs;
    this.plans = plans;
    this.clock = clock;
    this.tasks = tasks;
  }

  public SessionWork make(LiveSession session, List<Link> links, Optional<Config> given) {
    LedgerEntry entry = session.entry();
    Optional<Config> config = given.or(() -> readable(entry.root()));
    var syncNodes = new ArrayList<SyncNode>();
    var launchNodes = new ArrayList<LaunchNode>();
    for (NodeInfo node : session.gang().nodes()) {
      Link link = links.get(node.index());
      syncNodes.add(new LinkSyncNode(node, link));
      launchNodes.add(
          new LaunchNode(
              () -> session.gang().nodes().get(node.index()),
              new LinkNode(link, () -> session.isLost(node.index()), tasks)));
    }
    Path files = new SessionFiles(home).of(entry);
    var site =
        new LaunchSite(
            entry.name(),
            entry.id(),
            entry.root(),
            isHere(session),
            launchNodes,
            files.resolve("runs"),
            config.flatMap(
                read ->
                    ConfiguredData.of(read, entry.keeper().owner())
                        .outputs(session.backend().capabilities())));
    Tasks group = tasks.group("session-" + entry.name());
    Optional<String> unusual = TreeScan.whyUnusual(entry.root(), gitPlaces);
    boolean isOnDemand =
        config.flatMap(read -> read.text("sync.mode")).orElse("live").equals("manual");
    boolean isLive = !isOnDemand && unusual.isEmpty();
    TreeWatcher watcher =
        isLive
            ? Watchers.of(entry.root(), group)
            : Watchers.none(isOnDemand ? "" : unusual.orElse(""));
    var watch = new WorkspaceWatch(entry.root(), watcher, WatchTiming.usual(), clock);
    return new SessionWork(
        session,
        new WorkspaceSync(
            scan(entry, config, files, watch),
            editors(config, syncNodes.size()),
            new LocalTrash(new SessionFiles(home).trash(entry), clock),
            config.flatMap(read -> read.number("sync.new-from-node")).orElse(LARGEST_NEW),
            clock,
            group),
        watch,
        new SessionWork.SavesMode(
            SessionSaves.mode(isLive, files),
            config.map(SessionSaves.WhileRunning::of).orElse(SessionSaves.WhileRunning.USUAL),
            files,
            history(entry.root(), config)),
        syncNodes,
        new Launcher(site, plans, clock, group),
        new NodeEnvironments(site, group),
        forwards(session, links, config, files, clock, group),
        configs,
        clock,
        group);
  }

  private static Optional<SessionHistory.Source> history(Path root, Optional<Config> config) {
    String history = config.flatMap(read -> read.text("git.history")).orElse("all");
    Optional<Integer> most =
        history.matches("[0-9]+") ? Optional.of(Integer.parseInt(history)) : Optional.empty();
    return history.equals("none")
        ? Optional.empty()
        : Optional.of(new SessionHistory.Source(root, most));
  }

  /** A node that is not there is reported by the commands that push; nothing comes home then. */
  private static Editors editors(Optional<Config> config, int nodes) {
    if (config.isEmpty()) {
      return Editors.on(0);
    }
    EditNode asked = EditNode.of(config.get());
    if (!asked.isAmong(nodes)) {
      return new Editors(0, Merge.Editing.STAYS);
    }
    boolean stays = config.get().text("sync.edits").equals(Optional.of("stay"));
    return stays ? new Editors(asked.index(), Merge.Editing.STAYS) : Editors.on(asked.index());
  }

  private static SessionForwards forwards(
      LiveSession session,
      List<Link> links,
      Optional<Config> config,
      Path files,
      Clock clock,
      Tasks tasks) {
    var nodes =
        new SessionForwards.Nodes(session.name().text(), links.size(), isHere(session), links::get);
    var forwards = new SessionForwards(nodes, files, clock, tasks);
    forwards.resume(
        config.stream()
            .flatMap(read -> Json.object("ports", read.value("ports")).texts("ports").stream())
            .flatMap(text -> PortTarget.of(text).stream())
            .toList());
    return forwards;
  }

  private static boolean isHere(LiveSession session) {
    return session.backend().kind().equals("local");
  }

  /** A session is recovered even if its configuration cannot be read now. */
  private Optional<Config> readable(Path root) {
    try {
      return Optional.of(configs.load(root));
    } catch (GpushException invalid) {
      return Optional.empty();
    }
  }

  private TreeScan scan(
      LedgerEntry entry, Optional<Config> config, Path files, FolderListener listener) {
    ScanLimits limits = ScanLimits.standard();
    ScanLimits asked =
        config.flatMap(read -> read.number("sync.ask-over")).map(limits::askOver).orElse(limits);
    return new TreeScan(
        entry.root(), gitPlaces, asked, files.resolve("hashes"), listener, clock, tasks);
  }
}
