package dev.gpush.backends.slurm.command;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.core.text.PhraseTable;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Why sbatch refused a job.
 *
 * @param words the reason, for the user
 * @param works a request that would be granted, or a command that shows more
 */
public record SbatchRefusal(String words, List<String> works, Meaning meaning) {
  private static final List<Rule> RULES =
      PhraseTable.rows(SbatchRefusal.class, "refusals.txt", 4).stream()
          .map(
              row ->
                  new Rule(
                      row.get(0),
                      new SbatchRefusal(
                          row.get(2),
                          Stream.of(row.get(3)).filter(works -> !works.isEmpty()).toList(),
                          Meaning.valueOf(row.get(1).toUpperCase(Locale.ROOT)))))
          .toList();

  private static final String NOTHING_SAID = "Unspecified error";

  /** What a refusal means for the same request; refusals.txt explains each. */
  public enum Meaning {
    NEVER,
    NODES,
    PASSING,
    SILENT,
    CLUSTER
  }

  private record Rule(String part, SbatchRefusal refusal) {}

  public SbatchRefusal {
    works = List.copyOf(works);
  }

  /**
   * The first rule that matches, else the last line.
   *
   * @param errors what sbatch printed on stderr
   */
  public static SbatchRefusal of(String errors) {
    return known(errors).orElseGet(() -> unknown(errors));
  }

  private static Optional<SbatchRefusal> known(String errors) {
    String said = errors.toLowerCase(Locale.ROOT);
    return RULES.stream().filter(rule -> said.contains(rule.part())).findFirst().map(Rule::refusal);
  }

  private static SbatchRefusal unknown(String errors) {
    // The message of a site's own rules comes before the last line, which is then useless.
    String last =
        errors
            .lines()
            .map(
                line ->
                    line.replaceFirst(
                        "^(sbatch: )?(error: |fatal: )?(Batch job submission failed: )?", ""))
            .filter(line -> !line.isBlank())
            .reduce((before, line) -> line.equals(NOTHING_SAID) ? before : line)
            .filter(line -> !line.equals(NOTHING_SAID))
            .orElse("sbatch gave no reason");
    return new SbatchRefusal("sbatch says: " + ClusterText.clean(last), List.of(), Meaning.PASSING);
  }

  /** Words for an error that any of Slurm's programs prints. */
  static Optional<String> ofAnyProgram(String errors) {
    return known(errors)
        .flatMap(
            refusal ->
                switch (refusal.meaning()) {
                  case SILENT -> Optional.of(refusal.words());
                  case CLUSTER ->
                      Optional.of(
                          refusal.words()
                              + " ("
                              + String.join(", ", refusal.works())
                              + " shows them)");
                  case NEVER, NODES, PASSING -> Optional.empty();
                });
  }

  /** The same request would be refused again. */
  public boolean isHopeless() {
    return switch (meaning) {
      case NEVER, NODES, CLUSTER -> true;
      case PASSING, SILENT -> false;
    };
  }

  /** Slurm has no such nodes in their present state. */
  public boolean isAboutNodes() {
    return meaning == Meaning.NODES;
  }

  /** The controller may have accepted the job, and the answer was lost. */
  public boolean mayHaveArrived() {
    return meaning == Meaning.SILENT;
  }
}
