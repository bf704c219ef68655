package dev.gpush.acceptance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * One script of the contract for ssh: {@code src/test/resources/contract/*.sh}. Its first line is a
 * comment with the number in docs/reference/ssh-contract.md and what it shows; the next lines may
 * say when and where it runs.
 *
 * @param order when it runs
 * @param kinds the kinds of nodes that it is for; empty: all
 */
record ContractScript(Path file, String title, Order order, Set<String> kinds) {
  static final Path FOLDER = World.repository().resolve("src/test/resources/contract");

  private static final String MARK = "# ";
  private static final String KINDS = "# kinds: ";
  private static final String RUNNER = "lib.sh";
  private static final Pattern CHOSEN = Pattern.compile(System.getProperty("gpush.contract", ""));

  enum Order {
    /** Begins before the others and ends when they are done. */
    AROUND,
    /** Beside others. */
    BESIDE,
    /** After them, and nothing runs beside it. */
    ALONE,
    /** The node is gone afterwards. */
    LAST
  }

  ContractScript {
    kinds = Set.copyOf(kinds);
  }

  /**
   * All of one kind of nodes, by name; with {@code -Dgpush.contract=PATTERN} those whose name the
   * regular expression finds.
   */
  static List<ContractScript> of(String kind) throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      List<Path> scripts =
          files
              .filter(file -> file.toString().endsWith(".sh") && !file.endsWith(RUNNER))
              .filter(file -> CHOSEN.matcher(file.getFileName().toString()).find())
              .sorted()
              .toList();
      return scripts.stream()
          .map(ContractScript::read)
          .filter(script -> script.kinds().isEmpty() || script.kinds().contains(kind))
          .toList();
    }
  }

  private static ContractScript read(Path file) {
    List<String> head = lines(file).stream().takeWhile(line -> line.startsWith(MARK)).toList();
    Set<String> kinds =
        head.stream()
            .filter(line -> line.startsWith(KINDS))
            .findFirst()
            .map(line -> Set.of(line.substring(KINDS.length()).split(" ")))
            .orElse(Set.of());
    return new ContractScript(file, head.getFirst().substring(MARK.length()), order(head), kinds);
  }

  private static Order order(List<String> head) {
    for (Order order : Order.values()) {
      if (head.contains(MARK + order.name().toLowerCase(java.util.Locale.ROOT))) {
        return order;
      }
    }
    return Order.BESIDE;
  }

  private static List<String> lines(Path file) {
    try {
      return Files.readAllLines(file);
    } catch (IOException unreadable) {
      throw new java.io.UncheckedIOException(unreadable);
    }
  }

  String name() {
    return file.getFileName().toString();
  }

  /** The words that run it. */
  List<String> command() {
    return List.of("bash", FOLDER.resolve(RUNNER).toString(), file.toString());
  }
}
