package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.IncludedFiles;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.text.SshConfigWords;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Reads what the user's ssh configuration says about a host: {@code Host}, {@code Match} by host,
 * {@code Include}; of each keyword the first value counts. Whatever would lead elsewhere and is not
 * understood is refused: it needs OpenSSH. Read again for each connection, as ssh does.
 */
final class SshConfig {
  /** Files may include each other. */
  private static final int MOST_FILES = 256;

  /** What {@link HostConfig} takes. */
  private static final Set<String> READ =
      Set.of(
          "hostname",
          "port",
          "user",
          "identityfile",
          "identitiesonly",
          "identityagent",
          "proxyjump",
          "hostkeyalias",
          "userknownhostsfile",
          "globalknownhostsfile",
          "stricthostkeychecking");

  /** Without them a connection would go elsewhere, or trust a key that it should not. */
  private static final Set<String> REFUSED =
      Set.of(
          "proxycommand",
          "canonicalizehostname",
          "certificatefile",
          "revokedhostkeys",
          "knownhostscommand");

  private static final Set<String> OFF = Set.of("none", "no");

  /** Criteria of {@code Match} without a value. */
  private static final Set<String> ALONE = Set.of("all", "final", "canonical");

  private final Optional<Path> only;
  private final Path home;
  private final String localUser;

  /**
   * A reader.
   *
   * @param only a file in place of the user's and the system's
   */
  SshConfig(Optional<Path> only, Path home, String localUser) {
    this.only = only;
    this.home = home;
    this.localUser = localUser;
  }

  /**
   * What it says about this destination.
   *
   * @throws GpushException if it has something about it that needs OpenSSH
   */
  HostConfig of(Destination destination) throws IOException {
    var reading = new Reading(destination);
    Path own = home.resolve(".ssh");
    if (only.isPresent()) {
      reading.file(only.get(), own);
    } else {
      reading.optional(own.resolve("config"), own);
      reading.about = About.THIS_HOST;
      Path system = Path.of("/etc/ssh");
      reading.optional(system.resolve("ssh_config"), system);
    }
    for (String keyword : REFUSED) {
      String value = reading.values.getOrDefault(keyword, "none");
      if (!OFF.contains(value.toLowerCase(Locale.ROOT))) {
        throw needsOpenSsh(destination, keyword + " " + ConnectTrouble.clean(value));
      }
    }
    return new HostConfig(destination, reading.values, reading.keys, home, localUser);
  }

  /** What a block is about. */
  private enum About {
    THIS_HOST,
    OTHERS,
    /** Only OpenSSH knows. */
    UNKNOWN
  }

  /** One pass through the files; {@code about}: what the present block is about. */
  private final class Reading {
    private final Destination destination;
    private final Map<String, String> values = new HashMap<>();
    private final List<String> keys = new ArrayList<>();
    private About about = About.THIS_HOST;
    private int files;

    Reading(Destination destination) {
      this.destination = destination;
    }

    void optional(Path file, Path base) throws IOException {
      try {
        file(file, base);
      } catch (NoSuchFileException none) {
        // Nobody has to have one.
      }
    }

    void file(Path file, Path base) throws IOException {
      if (++files > MOST_FILES) {
        throw new IOException("too much to read: " + file);
      }
      for (String line : Files.readAllLines(file)) {
        List<String> words = SshConfigWords.split(line);
        if (words.size() > 1) {
          line(words.getFirst().toLowerCase(Locale.ROOT), words.subList(1, words.size()), base);
        }
      }
    }

    private void line(String keyword, List<String> rest, Path base) throws IOException {
      if (keyword.equals("host")) {
        about = matches(rest, destination.host()) ? About.THIS_HOST : About.OTHERS;
      } else if (keyword.equals("match")) {
        about = match(rest);
      } else if (about != About.OTHERS && keyword.equals("include")) {
        include(rest, base);
      } else if (about != About.OTHERS && (READ.contains(keyword) || REFUSED.contains(keyword))) {
        set(keyword, String.join(" ", rest));
      }
    }

    private void set(String keyword, String value) {
      if (about == About.UNKNOWN) {
        throw needsOpenSsh(destination, "a Match block that sets " + keyword);
      }
      if (keyword.equals("identityfile")) {
        keys.add(value);
      } else {
        values.putIfAbsent(keyword, value);
      }
    }

    /** Blocks of an included file end with it. */
    private void include(List<String> patterns, Path base) throws IOException {
      About outside = about;
      for (String pattern : patterns) {
        for (Path file : IncludedFiles.of(pattern, base, home)) {
          file(file, base);
          about = outside;
        }
      }
    }

    /** By host only; for the rest commands are run, or users and networks compared. */
    private About match(List<String> criteria) {
      About all = About.THIS_HOST;
      for (Iterator<String> words = criteria.iterator(); words.hasNext(); ) {
        String word = words.next().toLowerCase(Locale.ROOT);
        boolean isHost = word.equals("host") || word.equals("originalhost");
        if (!word.equals("all") && !isHost) {
          all = About.UNKNOWN;
        }
        boolean isAlone = ALONE.contains(word) || !words.hasNext();
        String value = isAlone ? "" : words.next();
        if (isHost && !matches(List.of(value.split(",", -1)), subject(word))) {
          return About.OTHERS;
        }
      }
      return all;
    }

    private String subject(String criterion) {
      String host = destination.host();
      return criterion.equals("host")
          ? values.getOrDefault("hostname", host).replace("%h", host)
          : host;
    }
  }

  static GpushException needsOpenSsh(Destination destination, String what) {
    return new GpushException(
        new MachineFailure.NeedsOpenSsh(
            destination.toString(), "its ssh configuration has " + what));
  }

  /** Whether one of the patterns matches, and none with an exclamation mark does. */
  private static boolean matches(List<String> patterns, String name) {
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
    String text = Pattern.quote(pattern).replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q");
    return Pattern.compile(text, Pattern.CASE_INSENSITIVE);
  }
}
