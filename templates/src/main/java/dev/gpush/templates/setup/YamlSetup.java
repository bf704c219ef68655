package dev.gpush.templates.setup;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.WholeFile;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.PlaceSearch;
import dev.gpush.core.setup.Setup;
import dev.gpush.core.setup.SetupProposal;
import dev.gpush.core.setup.SetupProposal.Change;
import dev.gpush.core.setup.SetupQuestion;
import dev.gpush.templates.setup.BackendBlocks.Block;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Proposes and writes config.yaml and gpush.yaml. Thread-safe. */
public final class YamlSetup implements Setup {
  /** Of a file that is committed. */
  private static final String SHARED = "rw-r--r--";

  private static final String PROJECT_FILE = "gpush.yaml";

  private final Configs configs;
  private final Path home;
  private final PlaceSearch search;

  /**
   * A setup.
   *
   * @param home GPUSH_HOME
   */
  public YamlSetup(Configs configs, Path home, PlaceSearch search) {
    this.configs = configs;
    this.home = home;
    this.search = search;
  }

  @Override
  public SetupProposal propose(SetupQuestion question) throws InterruptedException {
    Config config = configs.load(question.folder());
    List<PlaceFinding> findings = search.all(question);
    BackendBlocks backends = BackendBlocks.of(findings, config.backends());
    var changes = new ArrayList<Change>();
    String paste = "";
    if (!backends.blocks().isEmpty()) {
      Optional<Change> change = person(backends.blocks());
      change.ifPresent(changes::add);
      paste = change.isPresent() ? "" : ConfigAdditions.text(backends.blocks(), 2, "\n");
    }
    if (!question.isNamed()) {
      project(config, question).ifPresent(changes::add);
    }
    return new SetupProposal(
        backends.found(),
        only(findings, PlaceFinding.Unusable.class),
        only(findings, PlaceFinding.Unasked.class),
        changes,
        paste);
  }

  private static <T> List<T> only(List<PlaceFinding> findings, Class<T> kind) {
    return findings.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  private Optional<Change> person(List<Block> blocks) {
    Path file = home.resolve("config.yaml");
    Optional<String> before = content(file);
    if (before.isEmpty()) {
      return ConfigAdditions.fresh(blocks).map(text -> new Change(file, before, text, text));
    }
    return ConfigAdditions.added(before.get(), blocks)
        .map(after -> new Change(file, before, ConfigAdditions.text(blocks, 2, "\n"), after));
  }

  /** Only for a folder that is a project, and that has no gpush.yaml yet. */
  private static Optional<Change> project(Config config, SetupQuestion question) {
    Path root = config.root();
    Path file = root.resolve(PROJECT_FILE);
    boolean isProject =
        Files.exists(root.resolve(".git")) || Files.exists(root.resolve("pyproject.toml"));
    if (!isProject || root.equals(question.home()) || Files.exists(file)) {
      return Optional.empty();
    }
    return ProjectProposal.of(root, question.environment().getOrDefault("PATH", ""))
        .map(text -> new Change(file, Optional.empty(), text, text));
  }

  private static Optional<String> content(Path file) {
    try {
      return Optional.of(new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
    } catch (NoSuchFileException none) {
      return Optional.empty();
    } catch (IOException failed) {
      throw new GpushException(
          new ConfigFailure.Unreadable(file.toString(), FileReason.of(failed)), failed);
    }
  }

  @Override
  public void write(Change change) {
    Path file = change.file();
    if (!content(file).equals(change.before())) {
      throw notWritten(file, "it was changed meanwhile");
    }
    try {
      String mode = file.endsWith(PROJECT_FILE) ? SHARED : WholeFile.PRIVATE;
      WholeFile.rewrite(file, change.after().getBytes(StandardCharsets.UTF_8), mode);
    } catch (IOException failed) {
      throw new GpushException(
          new ConfigFailure.NotWritten(file.toString(), FileReason.of(failed)), failed);
    }
  }

  private static GpushException notWritten(Path file, String reason) {
    return new GpushException(new ConfigFailure.NotWritten(file.toString(), reason));
  }
}
