package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.slurm.cluster.WaitReason;
import dev.gpush.backends.slurm.command.SbatchRefusal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/**
 * What Slurm says that the rig cannot be made to say, and what gpush makes of it: files of blocks,
 * Slurm's lines first, ours indented. {@code -Dgpush.golden=write} writes ours again.
 */
final class GoldenWordsTest {
  private static final Path FOLDER = Path.of("src/test/resources/golden/slurm");

  @Test
  void reasonsToWait() throws IOException {
    same(
        "reasons.txt",
        said -> {
          WaitReason reason = WaitReason.of(said);
          assertFalse(reason.words().isBlank());
          return "  "
              + reason.sense().name().toLowerCase(Locale.ROOT)
              + ": "
              + reason.words()
              + "\n";
        });
  }

  @Test
  void refusalsOfSbatch() throws IOException {
    same(
        "refusals.txt",
        said -> {
          SbatchRefusal refusal = SbatchRefusal.of(said);
          return (refusal.isHopeless() ? "  never: " : "  fails: ")
              + refusal.words()
              + "\n"
              + (refusal.mayHaveArrived() ? "  looks for the job before it asks again\n" : "")
              + (refusal.works().isEmpty()
                  ? ""
                  : "  try: " + String.join(", ", refusal.works()) + "\n");
        });
  }

  private static void same(String name, UnaryOperator<String> ours) throws IOException {
    Path file = FOLDER.resolve(name);
    String golden = Files.readString(file);
    var seen = new ArrayList<String>();
    for (String block : golden.split("\n\n", -1)) {
      List<String> theirs =
          block.lines().filter(line -> !line.startsWith("  ") && !line.startsWith("#")).toList();
      String comment =
          block
              .lines()
              .filter(line -> line.startsWith("#"))
              .map(line -> line + "\n")
              .reduce("", String::concat);
      String said = String.join("\n", theirs);
      seen.add(comment + (said.isEmpty() ? "" : said + "\n" + ours.apply(said)));
    }
    String now = String.join("\n", seen);
    assertTrue(seen.size() > 20, "the file is there");
    if ("write".equals(System.getProperty("gpush.golden"))) {
      Files.writeString(file, now);
    }
    assertEquals(Files.readString(file), now);
  }
}
