package dev.gpush.gateway.session.placement;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.Setting;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.file.HomePart;
import dev.gpush.core.file.Sha256;
import dev.gpush.core.file.WholeFile;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.session.UpRequest;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/**
 * Flags &gt; gpush.local.yaml &gt; gpush.yaml &gt; last used here &gt; config.yaml &gt; site.yaml
 * &gt; built in.
 */
public final class Preferences {
  private static final Duration DEFAULT_IDLE = Duration.ofHours(1);
  private static final int NAME_BYTES = 8;

  private final Path folder;

  /**
   * @param folder where the last request of each workspace is remembered
   */
  public Preferences(Path folder) {
    this.folder = folder;
  }

  public ResolvedUp wish(UpRequest request, Config config) {
    Habit last = last(config.root());
    var notes = new ArrayList<String>();
    Optional<Integer> projectNodes = project(config, "nodes").flatMap(Preferences::whole);
    Optional<GpuRequest> projectGpus = project(config, "gpus").flatMap(Preferences::gpus);
    Optional<Integer> lastNodes = last.nodes();
    Optional<GpuRequest> lastGpus = last.gpus();
    boolean asksNothing =
        request.wanted().nodes().isEmpty()
            && request.wanted().gpus().isEmpty()
            && projectNodes.isEmpty()
            && projectGpus.isEmpty();
    if (asksNothing
        && lastNodes.isPresent()
        && (lastNodes.get() != 1 || lastGpus.map(gpus -> !gpus.isNone()).orElse(false))) {
      notes.add(
          "as last time here: --nodes "
              + lastNodes.get()
              + lastGpus.filter(gpus -> !gpus.isNone()).map(gpus -> " --gpus " + gpus).orElse(""));
    }
    int nodes =
        request
            .wanted()
            .nodes()
            .or(() -> projectNodes)
            .or(() -> lastNodes)
            .or(() -> config.value("nodes").flatMap(Preferences::whole))
            .orElse(1);
    if (nodes < 1 || nodes > GangRequest.MAX_NODES) {
      throw new GpushException(
          new UsageFailure.BadValue(
              "--nodes", Integer.toString(nodes), "1 to " + GangRequest.MAX_NODES));
    }
    GpuRequest gpus =
        request
            .wanted()
            .gpus()
            .or(() -> projectGpus)
            .or(() -> lastGpus)
            .or(() -> config.value("gpus").flatMap(Preferences::gpus))
            .orElse(GpuRequest.none());
    var explicit = new HashSet<String>();
    request.wanted().nodes().or(() -> projectNodes).ifPresent(_ -> explicit.add("nodes"));
    request.wanted().gpus().or(() -> projectGpus).ifPresent(_ -> explicit.add("gpus"));
    request.wanted().backend().ifPresent(_ -> explicit.add("backend"));
    return new ResolvedUp(
        request
            .wanted()
            .backend()
            .map(Preferences::names)
            .or(
                () ->
                    last.backend()
                        .filter(_ -> asksNothing)
                        .map(Preferences::names)
                        .filter(config.order()::containsAll))
            .orElse(List.of()),
        new LedgerEntry.Asked(
            nodes,
            gpus,
            request
                .wanted()
                .python()
                .map(python -> fromRoot(python, request.origin().folder(), config.root()))
                .or(() -> config.text("python")),
            request.wanted().natives(),
            Optional.empty()),
        new LedgerEntry.Lease(
            request.lease().hardEnd().or(() -> seconds(config, "lease.for")),
            request.lease().idle().orElseGet(() -> idle(config)),
            request.lease().idle().isPresent() || isChosen(config, "lease.idle")
                ? LedgerEntry.IdleRule.CHOSEN
                : LedgerEntry.IdleRule.BUILT_IN),
        explicit,
        notes,
        request.origin().environment());
  }

  /** A path that was typed in a folder below the root means the same for the whole session. */
  private static String fromRoot(String python, Path folder, Path root) {
    if (!python.contains("/") || python.startsWith("/") || python.startsWith("~")) {
      return python;
    }
    Path path = folder.resolve(python).normalize();
    return path.startsWith(root) ? "./" + root.relativize(path) : path.toString();
  }

  private static boolean isChosen(Config config, String key) {
    return config.settings().stream()
        .anyMatch(setting -> setting.key().equals(key) && !setting.isBuiltIn());
  }

  /** The configured idle time of a gang. */
  public static Duration idle(Config config) {
    return seconds(config, "lease.idle").orElse(DEFAULT_IDLE);
  }

  /** Remembers the granted request for this folder; failing to do so is no failure. */
  public void remember(Path root, ResolvedUp wish) {
    if (wish.asked().attach().isPresent()) {
      // Borrowed pods are not remembered.
      return;
    }
    Json.Obj last =
        Json.object(
            "root",
            root.toString(),
            "nodes",
            wish.nodes(),
            "gpus",
            wish.gpus().toString(),
            "backend",
            Optional.of(String.join(",", wish.backends())).filter(names -> !names.isEmpty()));
    try {
      HomePart.make(folder);
      WholeFile.write(file(root), last.pretty() + "\n", WholeFile.PRIVATE);
    } catch (IOException unwritten) {
      // The session exists; only a later up without options asks for something else.
    }
  }

  /** The last request of this folder. */
  private record Habit(
      Optional<Integer> nodes, Optional<GpuRequest> gpus, Optional<String> backend) {
    static Habit none() {
      return new Habit(Optional.empty(), Optional.empty(), Optional.empty());
    }
  }

  private Habit last(Path root) {
    try {
      Path file = file(root);
      if (!Files.exists(file)) {
        return Habit.none();
      }
      Json last = Json.parse(Files.readString(file));
      return new Habit(
          last.number("nodes").map(Math::toIntExact).filter(nodes -> nodes >= 1),
          last.text("gpus").map(Preferences::gpus),
          last.text("backend"));
    } catch (IOException | JsonSyntaxException | ArithmeticException | GpushException forgotten) {
      return Habit.none();
    }
  }

  private Path file(Path root) {
    return folder.resolve(Sha256.hex(root.toString(), NAME_BYTES) + ".json");
  }

  /** {@code hpc} or {@code hpc,rack}. */
  private static List<String> names(String list) {
    List<String> names = List.of(list.split(",", -1));
    if (names.stream().anyMatch(String::isBlank)) {
      throw new GpushException(
          new UsageFailure.BadValue("--backend", list, "names separated by commas: hpc,rack"));
    }
    return names.stream().map(String::strip).distinct().toList();
  }

  /** A value that the project's own files give. */
  private static Optional<Json> project(Config config, String key) {
    return config.settings().stream()
        .filter(setting -> setting.key().equals(key) && setting.origin().startsWith("gpush."))
        .map(Setting::value)
        .findFirst();
  }

  private static Optional<Integer> whole(Json value) {
    return Json.object("v", value).number("v").map(Math::toIntExact);
  }

  private static Optional<GpuRequest> gpus(Json value) {
    List<Optional<String>> readings =
        List.of(value.asText(), whole(value).map(number -> Integer.toString(number)));
    return readings.stream().flatMap(Optional::stream).findFirst().map(Preferences::gpus);
  }

  private static GpuRequest gpus(String text) {
    return text.equals("cpu") ? GpuRequest.none() : GpuRequest.parse(text);
  }

  /** Durations are seconds once the configuration is read. */
  private static Optional<Duration> seconds(Config config, String key) {
    return config.number(key).map(Duration::ofSeconds);
  }
}
