package dev.gpush.sync.node;

import dev.gpush.core.json.Json;
import dev.gpush.sync.tree.Generation;
import java.util.List;
import java.util.Optional;

/**
 * A node's answer to COMMIT.
 *
 * @param late paths that changed on the node between PREPARE and COMMIT: those files stayed
 * @param kept paths that were to be deleted and were changed there: they stayed
 * @param trash the folder of overwritten files
 * @param emptied older generations of the trash that were beyond its limit and are removed
 */
public record Committed(
    Generation generation,
    List<String> late,
    List<String> kept,
    Optional<String> trash,
    List<String> emptied) {
  public Committed {
    late = List.copyOf(late);
    kept = List.copyOf(kept);
    emptied = List.copyOf(emptied);
  }

  static Committed parse(Json json) {
    return new Committed(
        new Generation(json.number("generation").orElse(0L), json.text("root").orElse("")),
        json.texts("late"),
        json.texts("kept"),
        json.text("trash"),
        json.texts("emptied"));
  }
}
