package dev.gpush.templates;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whatever stands in a file, it is read or refused with places that exist. */
final class NoiseTest {
  private static final int ROUNDS = Integer.getInteger("gpush.noise.rounds", 1500);

  private static final List<String> PIECES =
      List.of(
          "nodes",
          "gpus",
          "lease",
          "for",
          "idle",
          "backends",
          "kind",
          "local",
          "env",
          "run",
          "mode",
          "inherits",
          "hello",
          "defaults",
          ": ",
          ":",
          "\n",
          "\n  ",
          "\n    ",
          "- ",
          "{",
          "}",
          "[",
          "]",
          ", ",
          "1",
          "8h",
          "H100:8",
          "\"",
          "'",
          "&a ",
          "*a",
          "!!int ",
          "? ",
          "|",
          ">-",
          "#",
          "%YAML 9.9\n",
          "---\n",
          "...\n",
          "\t",
          "\0",
          "\\U7fffffff",
          "\\x",
          "<<",
          "~",
          "é",
          "\uFEFF",
          "\u2028",
          "@",
          "`",
          "\r",
          "\"\\uD800\"",
          ".",
          "*");

  @TempDir private Path folder;

  @Test
  void anyFileIsReadOrRefusedInOrder() {
    long seed = Long.getLong("gpush.noise.seed", new Random().nextLong());
    var random = new Random(seed);
    System.out.println("NoiseTest: gpush.noise.seed=" + seed);
    String[] files = {"gpush.yaml", "gpush.local.yaml", "config.yaml", "site.yaml", "hello.yaml"};
    Folders folders = Folders.in(folder).with("gpush.yaml", "");

    for (int round = 0; round < ROUNDS; round++) {
      byte[] noise = noise(random);
      folders.with(files[random.nextInt(files.length)], noise);
      try {
        folders.load();
        folders.configs().templates(folders.project());
      } catch (GpushException refused) {
        var invalid = assertInstanceOf(ConfigFailure.Invalid.class, refused.failure());
        assertTrue(!invalid.problems().isEmpty());
        for (ConfigFailure.Problem problem : invalid.problems()) {
          assertTrue(problem.line() >= 1 && problem.column() >= 1, problem::toString);
          assertTrue(problem.what().length() < 400, problem::toString);
          assertTrue(problem.toString().chars().noneMatch(c -> c < 32 || c == 127), problem::what);
        }
      } catch (RuntimeException | Error thrown) {
        String hex = HexFormat.of().formatHex(noise);
        fail("seed " + seed + " round " + round + " bytes " + hex, thrown);
      }
    }
  }

  private static byte[] noise(Random random) {
    var bytes = new ByteArrayOutputStream();
    int pieces = random.nextInt(40);
    for (int i = 0; i < pieces; i++) {
      if (random.nextInt(60) == 0) {
        bytes.write(random.nextInt(256));
      } else {
        String piece = PIECES.get(random.nextInt(PIECES.size()));
        bytes.writeBytes(piece.getBytes(StandardCharsets.UTF_8));
      }
    }
    return bytes.toByteArray();
  }
}
