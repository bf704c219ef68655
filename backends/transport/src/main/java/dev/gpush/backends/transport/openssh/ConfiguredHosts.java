package dev.gpush.backends.transport.openssh;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.IncludedFiles;
import dev.gpush.core.setup.HostSource.ListedHost;
import dev.gpush.core.text.SshConfigWords;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The names that the user's ssh configuration has after {@code Host}, without those with wildcards.
 * Only names are read here; what they mean only ssh knows.
 *
 * @param hosts each once, in the order of the files
 * @param execution why ssh may run a command for each connection, and even to say what the
 *     configuration means: a {@code Match exec}, or a file that only ssh can find
 */
record ConfiguredHosts(List<ListedHost> hosts, Optional<String> execution) {
  /** Files may include each other. */
  private static final int MOST_FILES = 256;

  /** Variables, tokens, other users' home folders, and what two readers may take differently. */
  private static final Pattern UNKNOWN = Pattern.compile("\\$\\{|%|^~[^/]|\\[:|[^ -~]");

  ConfiguredHosts {
    hosts = List.copyOf(hosts);
  }

  /**
   * Reads the user's configuration, and all that it includes.
   *
   * @param home the folder with .ssh
   * @param own gpush's file of sessions, which {@code gpush link} includes
   */
  static ConfiguredHosts read(Path home, Path own) throws IOException {
    var reading = new Reading(home, own);
    Path config = home.resolve(".ssh/config");
    if (Files.exists(config)) {
      reading.file(config);
    }
    return new ConfiguredHosts(List.copyOf(reading.hosts.values()), reading.execution);
  }

  private static final class Reading {
    private final Path home;
    private final Path own;
    private final Map<String, ListedHost> hosts = new LinkedHashMap<>();
    private Optional<String> execution = Optional.empty();
    private int files;

    Reading(Path home, Path own) {
      this.home = home;
      this.own = own;
    }

    /** Bytes, not UTF-8: ssh does not mind a comment in another encoding. */
    void file(Path file) throws IOException {
      if (Files.exists(own) && Files.isSameFile(file, own)) {
        return;
      }
      if (++files > MOST_FILES) {
        throw new IOException("more than " + MOST_FILES + " files are included");
      }
      String shown = file.startsWith(home) ? "~/" + home.relativize(file) : file.toString();
      int number = 0;
      for (String line : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
        number++;
        List<String> words = SshConfigWords.split(line);
        if (words.size() > 1) {
          line(words, shown + ":" + number);
        }
      }
    }

    private void line(List<String> words, String origin) throws IOException {
      List<String> rest = words.subList(1, words.size());
      switch (words.getFirst().toLowerCase(Locale.ROOT)) {
        case "host" ->
            rest.stream()
                .filter(Reading::isName)
                .forEach(
                    name ->
                        hosts.putIfAbsent(name, new ListedHost(name, Optional.empty(), origin)));
        case "match" -> {
          if (rest.stream().anyMatch(word -> word.matches("(?is)!?exec(=.*)?"))) {
            runs(origin + " has a Match exec, which runs a command");
          }
        }
        case "include" -> {
          for (String pattern : rest) {
            if (UNKNOWN.matcher(pattern).find()) {
              runs(origin + " includes what only ssh can find, and that may run a command");
              continue;
            }
            for (Path file : IncludedFiles.of(pattern, home.resolve(".ssh"), home)) {
              file(file);
            }
          }
        }
        default -> {}
      }
    }

    private void runs(String why) {
      execution = execution.or(() -> Optional.of(why));
    }

    private static boolean isName(String pattern) {
      try {
        Destination name = Destination.parse(pattern);
        return name.host().equals(pattern);
      } catch (IllegalArgumentException wildcards) {
        return false;
      }
    }
  }
}
