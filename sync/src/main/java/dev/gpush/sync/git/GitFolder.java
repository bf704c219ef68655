package dev.gpush.sync.git;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.eclipse.jgit.errors.ConfigInvalidException;
import org.eclipse.jgit.lib.Config;

/**
 * A repository as far as a scan needs it.
 *
 * @param top of the work tree
 * @param own its {@code .git}, or what a {@code .git} file points to (work trees, submodules)
 * @param common the same, or the main repository's for a work tree
 */
public record GitFolder(Path top, Path own, Path common) {
  /** A {@code .git} file or {@code HEAD} is one line. */
  private static final long MAX_POINTER_BYTES = 64 << 10;

  private static final String POINTER = "gitdir:";
  private static final int MAX_INCLUDES = 10;
  private static final String EXCLUDES = "excludesfile";
  private static final String IGNORE_CASE = "ignorecase";
  private static final Set<String> FALSE = Set.of("false", "no", "off", "0");

  /** The repository whose work tree begins at this folder. */
  public static Optional<GitFolder> at(Path folder) {
    Path git = folder.resolve(".git");
    Optional<Path> own =
        Files.isDirectory(git)
            ? Optional.of(git)
            : line(git)
                .filter(line -> line.startsWith(POINTER))
                .map(line -> folder.resolve(line.substring(POINTER.length()).strip()).normalize());
    return own.filter(found -> Files.exists(found.resolve("HEAD")))
        .map(
            found ->
                new GitFolder(
                    folder,
                    found,
                    line(found.resolve("commondir"))
                        .map(common -> found.resolve(common).normalize())
                        .orElse(found)));
  }

  /** The nearest repository that this folder is in. */
  public static Optional<GitFolder> around(Path folder) {
    return Stream.iterate(folder, above -> above != null, Path::getParent)
        .map(GitFolder::at)
        .flatMap(Optional::stream)
        .findFirst();
  }

  public Path exclude() {
    return common.resolve("info/exclude");
  }

  /** Changes with every checkout, commit, pull and reset; to distinguish these from lost files. */
  public String head() {
    String head = line(own.resolve("HEAD")).orElse("");
    return head.startsWith("ref: ")
        ? head + " " + line(common.resolve(head.substring("ref: ".length()))).orElse("")
        : head;
  }

  /**
   * What git's configuration says about ignored files.
   *
   * @param excludesFile {@code core.excludesFile}
   * @param isCaseless {@code core.ignoreCase}, which git sets on disks like those of macOS
   */
  record Ignoring(Path excludesFile, boolean isCaseless) {}

  /** As git resolves it for this repository. */
  static Ignoring ignoring(GitPlaces places, Optional<GitFolder> repository) {
    var files = new ArrayList<>(places.configs());
    repository.ifPresent(
        git -> {
          files.add(git.common().resolve("config"));
          files.add(git.own().resolve("config.worktree"));
        });
    var found = new HashMap<String, Setting>();
    files.forEach(file -> read(file, places, MAX_INCLUDES, found));
    return new Ignoring(
        Optional.ofNullable(found.get(EXCLUDES))
            .map(setting -> path(setting.value(), setting.folder(), places))
            .orElse(places.defaultIgnore()),
        Optional.ofNullable(found.get(IGNORE_CASE))
            .filter(setting -> !FALSE.contains(setting.value().toLowerCase(Locale.ROOT)))
            .isPresent());
  }

  /** A value, and the folder of the file that has it. */
  private record Setting(String value, Path folder) {}

  private static void read(Path file, GitPlaces places, int depth, Map<String, Setting> found) {
    var config = new Config();
    try {
      if (depth == 0 || !Files.isRegularFile(file)) {
        return;
      }
      config.fromText(Files.readString(file));
    } catch (IOException | ConfigInvalidException unreadable) {
      return; // git itself will tell the user
    }
    Path folder = Objects.requireNonNull(file.toAbsolutePath().getParent(), "a file has a folder");
    for (String include : config.getStringList("include", null, "path")) {
      read(path(include, folder, places), places, depth - 1, found);
    }
    for (String name : List.of(EXCLUDES, IGNORE_CASE)) {
      String own = config.getString("core", null, name);
      if (own != null && !own.isEmpty()) {
        found.put(name, new Setting(own, folder));
      }
    }
  }

  private static Path path(String value, Path folder, GitPlaces places) {
    return value.startsWith("~/")
        ? places.home().resolve(value.substring(2))
        : folder.resolve(value);
  }

  private static Optional<String> line(Path file) {
    try {
      if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)
          || Files.size(file) > MAX_POINTER_BYTES) {
        return Optional.empty();
      }
      return Optional.of(Files.readString(file, StandardCharsets.UTF_8).strip());
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }
}
