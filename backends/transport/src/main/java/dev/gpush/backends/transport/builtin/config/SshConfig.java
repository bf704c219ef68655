package dev.gpush.backends.transport.builtin.config;

import dev.gpush.backends.transport.Destination;
import dev.gpush.core.text.SshConfigWords;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Reads what the user's ssh configuration says about a host: {@code Host} patterns, {@code Match}
 * by host and user, {@code Include}; of each option the first value counts. What needs a program
 * ({@code Match exec}, {@code ProxyCommand}) is not run.
 *
 * <p>Read anew for each connection, as ssh does, so that an edit takes effect. sshj has no reader.
 */
public final class SshConfig {
  /** Files that include each other. */
  private static final int MOST_DEPTH = 16;

  private static final int MOST_FILES = 256;
  private static final int MOST_BYTES = 4 * 1024 * 1024;

  private final Optional<Path> only;
  private final Path home;
  private final String localUser;

  /**
   * A reader.
   *
   * @param only a file in place of the user's and the system's
   */
  public SshConfig(Optional<Path> only, Path home, String localUser) {
    this.only = only;
    this.home = home;
    this.localUser = localUser;
  }

  /** What it says about this destination. */
  public HostConfig of(Destination destination) throws IOException {
    var reading = new Reading(destination);
    if (only.isPresent()) {
      reading.file(only.get(), home.resolve(".ssh"), 0);
    } else {
      Path own = home.resolve(".ssh");
      reading.optional(own.resolve("config"), own);
      reading.isActive = true;
      Path system = Path.of("/etc/ssh");
      reading.optional(system.resolve("ssh_config"), system);
    }
    return new HostConfig(destination, reading.values, reading.keys, home, localUser);
  }

  /** One pass through the files; {@code isActive}: whether the present block is about the host. */
  private final class Reading {
    private final Destination destination;
    private final Map<String, String> values = new LinkedHashMap<>();
    private final List<String> keys = new ArrayList<>();
    private boolean isActive = true;
    private int files;

    Reading(Destination destination) {
      this.destination = destination;
    }

    void optional(Path file, Path base) throws IOException {
      try {
        file(file, base, 0);
      } catch (NoSuchFileException none) {
        // Nobody has to have one.
      }
    }

    void file(Path file, Path base, int depth) throws IOException {
      if (depth > MOST_DEPTH || ++files > MOST_FILES || Files.size(file) > MOST_BYTES) {
        throw new IOException("too much to read: " + file);
      }
      for (String line : Files.readAllLines(file)) {
        line(line, base, depth);
      }
    }

    private void line(String line, Path base, int depth) throws IOException {
      List<String> words = SshConfigWords.split(line);
      if (words.size() < 2) {
        return;
      }
      String keyword = words.getFirst().toLowerCase(Locale.ROOT);
      List<String> rest = words.subList(1, words.size());
      switch (keyword) {
        case "host" -> isActive = matches(rest, destination.host());
        case "match" -> isActive = meets(rest);
        case "include" -> include(rest, base, depth);
        case "identityfile" -> {
          if (isActive) {
            keys.add(rest.getFirst());
          }
        }
        default -> {
          if (isActive) {
            values.putIfAbsent(keyword, String.join(" ", rest));
            if (keyword.equals("proxyjump") || keyword.equals("proxycommand")) {
              // Whichever of the two comes first is the way.
              values.putIfAbsent("way", keyword);
            }
          }
        }
      }
    }

    /** Blocks of an included file end with it. */
    private void include(List<String> patterns, Path base, int depth) throws IOException {
      if (!isActive) {
        return;
      }
      for (String pattern : patterns) {
        for (Path file : files(pattern, base)) {
          file(file, base, depth + 1);
          isActive = true;
        }
      }
    }

    private List<Path> files(String pattern, Path base) throws IOException {
      Path path = base.resolve(HostConfig.tilde(pattern, home));
      Path folder = path.getParent();
      Path name = path.getFileName();
      if (folder == null || name == null || !Files.isDirectory(folder)) {
        return List.of();
      }
      var found = new ArrayList<Path>();
      try (DirectoryStream<Path> names = Files.newDirectoryStream(folder, name.toString())) {
        names.forEach(found::add);
      }
      found.removeIf(file -> !Files.isReadable(file) || Files.isDirectory(file));
      Collections.sort(found);
      return found;
    }

    /** A Match line; a criterion that is not understood matches nothing. */
    private boolean meets(List<String> criteria) {
      Iterator<String> words = criteria.iterator();
      while (words.hasNext()) {
        String word = words.next().toLowerCase(Locale.ROOT);
        if (word.equals("all")) {
          continue;
        }
        boolean isNegated = word.startsWith("!");
        Optional<String> subject = subject(isNegated ? word.substring(1) : word);
        if (subject.isEmpty() || !words.hasNext()) {
          return false;
        }
        List<String> patterns = List.of(words.next().split(",", -1));
        if (matches(patterns, subject.get()) == isNegated) {
          return false;
        }
      }
      return true;
    }

    private Optional<String> subject(String criterion) {
      return switch (criterion) {
        case "originalhost" -> Optional.of(destination.host());
        case "host" ->
            Optional.of(
                values
                    .getOrDefault("hostname", destination.host())
                    .replace("%h", destination.host()));
        case "user" ->
            Optional.of(destination.user().orElse(values.getOrDefault("user", localUser)));
        case "localuser" -> Optional.of(localUser);
        default -> Optional.empty();
      };
    }
  }

  /** Whether one of the patterns matches, and none with an exclamation mark does. */
  static boolean matches(List<String> patterns, String name) {
    boolean isMatched = false;
    for (String pattern : patterns) {
      boolean isNegated = pattern.startsWith("!");
      if (glob(isNegated ? pattern.substring(1) : pattern).matcher(name).matches()) {
        if (isNegated) {
          return false;
        }
        isMatched = true;
      }
    }
    return isMatched;
  }

  private static Pattern glob(String pattern) {
    var text = new StringBuilder();
    for (int at = 0; at < pattern.length(); at++) {
      char letter = pattern.charAt(at);
      switch (letter) {
        case '*' -> text.append(".*");
        case '?' -> text.append('.');
        default -> text.append(Pattern.quote(String.valueOf(letter)));
      }
    }
    return Pattern.compile(text.toString(), Pattern.CASE_INSENSITIVE);
  }
}
