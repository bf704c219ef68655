package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The script in a real shell, with a program in place of srun that says what it was given. */
final class HolderScriptTest {
  @TempDir private Path folder;

  private int run(String srun, byte[] packet) throws Exception {
    Path fake = Files.writeString(folder.resolve("srun"), "#!/bin/sh\n" + srun + "\n");
    Files.setPosixFilePermissions(fake, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path gang = Files.createDirectories(folder.resolve("it's/gang"));
    Files.writeString(gang.resolve("job.log"), "");
    String script =
        HolderScript.text(
            "dev\nbox",
            2,
            List.of("/bin/sh", "-c", "echo 'a b'\n", "$x"),
            packet,
            gang.toString(),
            Optional.empty(),
            "/none");
    var builder = new ProcessBuilder("/bin/sh").redirectErrorStream(true);
    builder.environment().put("PATH", folder + ":" + builder.environment().get("PATH"));
    builder.environment().put("SLURM_MEM_PER_CPU", "1");
    builder.environment().put("OUT", folder.toString());
    Process process = builder.start();
    try (var input = process.getOutputStream()) {
      input.write(script.getBytes(StandardCharsets.UTF_8));
    }
    process.getInputStream().readAllBytes();
    return process.waitFor();
  }

  @Test
  void givesTheAgentsExactlyWhatTheyAreToRead() throws Exception {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("HolderScriptTest: gpush.seed=" + seed);
    var packet = new byte[200_000];
    new Random(seed).nextBytes(packet);

    int status =
        run(
            "cat > \"$OUT/got\"; for word; do printf '%s\\0' \"$word\"; done > \"$OUT/words\";"
                + " printf %s \"$SLURM_MEM_PER_CPU\" > \"$OUT/memory\"",
            packet);

    assertEquals(0, status);
    assertArrayEquals(packet, Files.readAllBytes(folder.resolve("got")));
    String words = Files.readString(folder.resolve("words"));
    assertTrue(words.endsWith("--\0/bin/sh\0-c\0echo 'a b'\n\0$x\0"), words);
    assertTrue(words.contains("--mpi=none\0"), words);
    assertEquals("", Files.readString(folder.resolve("memory")));
    assertFalse(Files.exists(folder.resolve("it's/gang")));
  }

  @Test
  void aStepThatEndsBadlyLeavesTheLog() throws Exception {
    assertEquals(9, run("cat > /dev/null; exit 9", new byte[10]));
    assertTrue(Files.exists(folder.resolve("it's/gang/job.log")));
  }
}
