package dev.gpush.sync.scan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.Phrase;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.git.IgnoreStack;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Asks before more is sent than users usually mean to; the answers are in the cache file. */
final class ScanQuestions {
  private static final String YES = "--yes";
  private static final String PLACE = "place";

  /** In a pattern; such a path is rare. */
  private static final Pattern SPECIAL = Pattern.compile("[\\\\*?\\[]| (?= *$)");

  private final Path root;
  private final GitPlaces places;
  private final ScanLimits limits;
  private final HashCache cache;

  ScanQuestions(Path root, GitPlaces places, ScanLimits limits, HashCache cache) {
    this.root = root;
    this.places = places;
    this.limits = limits;
    this.cache = cache;
  }

  void askForPlace(Talk talk) {
    Optional<String> why = whyUnusual(root, places);
    if (why.isPresent() && !cache.hasAgreed(PLACE)) {
      ask(talk, why.get(), 0, 0, "cd into the folder of a project");
      cache.agree(PLACE);
    }
  }

  static Optional<String> whyUnusual(Path root, GitPlaces places) {
    if (root.getParent() == null) {
      return Optional.of("it is the whole file system");
    }
    return isSame(root, places.home().toAbsolutePath().normalize())
        ? Optional.of("it is your home folder")
        : Optional.empty();
  }

  /** A home folder is often reached through a link. */
  private static boolean isSame(Path root, Path home) {
    try {
      return root.equals(home) || Files.isSameFile(root, home);
    } catch (IOException isNotThere) {
      return false;
    }
  }

  void askForSize(int files, long bytes, Talk talk) {
    if ((files > limits.files() || bytes > limits.bytes()) && !cache.hasAgreedTo(files, bytes)) {
      String why =
          files > limits.files()
              ? "more than " + limits.files() + " files"
              : "more than " + Phrase.size(limits.bytes());
      ask(talk, why, files, bytes, ignoring("PATTERN"));
      cache.agreeTo(files, bytes);
    }
  }

  void askForLarge(Collection<ScannedFile> found, Talk talk) {
    List<ScannedFile> large = found.stream().filter(this::isLargeAndNew).toList();
    if (!large.isEmpty()) {
      ScannedFile first = large.getFirst();
      String others = large.size() == 1 ? "" : " and " + (large.size() - 1) + " more";
      ask(
          talk,
          first.path() + others + ": " + largeText(),
          large.size(),
          large.stream().mapToLong(file -> file.look().stamp().size()).sum(),
          ignoring(large.size() == 1 ? pattern(first.path()) : "PATTERN"));
      large.forEach(file -> cache.agree("file " + file.path()));
    }
  }

  String largeText() {
    return limits.largeText();
  }

  boolean isLargeAndNew(ScannedFile file) {
    return !file.tracked()
        && file.look().isFile()
        && file.look().stamp().size() > limits.askOver()
        && !cache.hasAgreed("file " + file.path());
  }

  private String ignoring(String pattern) {
    return "echo "
        + Clean.word(pattern)
        + " >> "
        + Clean.word(root.resolve(IgnoreStack.GPUSH_IGNORE).toString());
  }

  /** What ignores this path only. */
  static String pattern(String path) {
    return "/" + SPECIAL.matcher(path).replaceAll("\\\\$0");
  }

  /**
   * @param instead after which it is not asked again
   */
  private void ask(Talk talk, String why, long files, long bytes, String instead) {
    String size = files == 0 ? "" : " (" + files + " files, " + Phrase.size(bytes) + ")";
    try {
      talk.confirm(root + ": " + why + size + ". Send it?", YES);
    } catch (GpushException failed) {
      throw switch (failed.failure()) {
        case UsageFailure.NobodyToAsk _ ->
            new GpushException(
                new SyncFailure.TooMuch(root.toString(), why, files, bytes, instead), failed);
        case UsageFailure.Declined(var question, _) ->
            new GpushException(new UsageFailure.Declined(question, instead), failed);
        default -> failed;
      };
    }
  }
}
