package dev.gpush.sync.scan;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.session.SendReason;
import dev.gpush.core.session.SendReason.Kind;
import dev.gpush.core.session.SendReason.Verdict;
import dev.gpush.core.session.SendRules;
import dev.gpush.sync.git.GitIndex;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.git.IgnoreTrace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;

/** Explains single paths by the rules of a scan. Reads the tree as it is, and remembers nothing. */
public final class WorkspaceRules implements SendRules {
  private final Configs configs;
  private final GitPlaces places;

  public WorkspaceRules(Configs configs, GitPlaces places) {
    this.configs = configs;
    this.places = places;
  }

  @Override
  public SendReason explain(Path folder, String text) {
    Config config = configs.load(folder);
    ScanLimits standard = ScanLimits.standard();
    ScanLimits limits = config.number("sync.ask-over").map(standard::askOver).orElse(standard);
    Path path = path(folder, text);
    try {
      return explain(config.root(), path, text.endsWith("/"), limits);
    } catch (IOException broken) {
      throw new GpushException(
          new SyncFailure.Unreadable(path.toString(), FileReason.of(broken)), broken);
    }
  }

  private static Path path(Path folder, String text) {
    try {
      return folder.resolve(text).toAbsolutePath().normalize();
    } catch (InvalidPathException invalid) {
      throw new GpushException(
          new UsageFailure.BadValue("--explain", text, "a path without a NUL character"), invalid);
    }
  }

  private SendReason explain(Path root, Path path, boolean isMissingFolder, ScanLimits limits)
      throws IOException {
    Optional<Path> inside = inside(root, path);
    if (inside.isEmpty()) {
      return new SendReason(
          path.toString(), kind(path), Verdict.OUTSIDE, root.toString(), Optional.empty(), "");
    }
    Path relative = inside.orElseThrow();
    if (relative.toString().isEmpty()) {
      return new SendReason("", Kind.FOLDER, Verdict.SENT, "", Optional.empty(), "");
    }
    Path here = root.resolve(relative);
    IgnoreTrace trace =
        IgnoreTrace.of(root, relative, isMissingFolder, places, git -> GitIndex.read(git.own()));
    Kind kind = kind(here);
    Verdict verdict = trace.verdict();
    String detail = "";
    if (verdict.isSent() && kind == Kind.LINK) {
      Optional<String> target = TreeScan.linkTarget(base(relative), here);
      detail = target.isPresent() ? target.get() : Files.readSymbolicLink(here).toString();
      verdict = target.isPresent() ? verdict : Verdict.LEADS_OUT;
    } else if (verdict.isSent() && kind == Kind.OTHER) {
      verdict = Verdict.NO_REGULAR_FILE;
    } else if (kind == Kind.FILE
        && verdict == Verdict.SENT
        && Files.size(here) > limits.askOver()) {
      verdict = Verdict.LARGE;
      detail = limits.largeText();
    }
    return new SendReason(relative.toString(), kind, verdict, trace.at(), trace.rule(), detail);
  }

  /** From the root on; the folder may be reached through links. */
  private static Optional<Path> inside(Path root, Path path) throws IOException {
    if (path.startsWith(root)) {
      return Optional.of(root.relativize(path));
    }
    Path above = path.getParent();
    if (above == null || !Files.isDirectory(above)) {
      return Optional.empty();
    }
    Path real = above.toRealPath().resolve(Objects.requireNonNull(path.getFileName()));
    Path realRoot = root.toRealPath();
    return real.startsWith(realRoot) ? Optional.of(realRoot.relativize(real)) : Optional.empty();
  }

  /** As a scan names the folder of a path: empty or ending in a slash. */
  private static String base(Path relative) {
    Path above = relative.getParent();
    return above == null ? "" : above + "/";
  }

  private static Kind kind(Path path) {
    if (Files.isSymbolicLink(path)) {
      return Kind.LINK;
    }
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      return Kind.FOLDER;
    }
    if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
      return Kind.FILE;
    }
    return Files.exists(path, LinkOption.NOFOLLOW_LINKS) ? Kind.OTHER : Kind.MISSING;
  }
}
