package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Word of an end before it comes: in terminals, to ranks, and nowhere else. */
@Tag("local")
final class LeaseIT {
  /** Saves when it is told, and then goes on until it has been told. */
  private static final String SAVES =
      """
      import os, signal, time
      told = []
      signal.signal(signal.SIGTERM, signal.SIG_IGN)
      signal.signal(signal.SIGUSR1, lambda number, frame: told.append(number))
      print("ready", os.environ["RANK"], flush=True)
      while not told:
          time.sleep(0.02)
      print("saved", os.environ["RANK"], flush=True)
      """;

  /** What a process has said so far. */
  private static final class Said {
    private final Process process;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Said(Process process) {
      this.process = process;
      follow(process.getInputStream());
      follow(process.getErrorStream());
    }

    private void follow(InputStream from) {
      Thread.ofVirtual()
          .start(
              () -> {
                var piece = new byte[4096];
                try {
                  for (int count = from.read(piece); count >= 0; count = from.read(piece)) {
                    bytes.write(piece, 0, count);
                  }
                } catch (IOException closed) {
                  // The test has ended it.
                }
              });
    }

    String text() {
      return bytes.toString(StandardCharsets.UTF_8);
    }

    void until(String words) throws InterruptedException {
      try {
        World.until(words, () -> text().contains(words));
      } catch (AssertionError late) {
        throw new AssertionError(late.getMessage() + "; it said: " + text(), late);
      }
    }

    int ends() throws InterruptedException {
      return process.waitFor();
    }

    void type(String line) throws IOException {
      process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
      process.getOutputStream().flush();
    }
  }

  private static Said ssh(World world, String... words) throws IOException {
    return new Said(world.start(world.project(), world.ssh(words)));
  }

  @Test
  void terminalsAndRanksHearOfTheEndAndPipesDoNot() throws Exception {
    try (World world = World.fresh()) {
      world.file("gpush.yaml", "nodes: 2\nlease: {warn: [10m]}\nrun: {warn: USR1@10m}\n");
      world.file("saves.py", SAVES);
      world.gpush("up").succeeded();
      Said terminal = ssh(world, "-tt", "devbox-1", "echo open; read line; echo got $line");
      Said pipe = ssh(world, "devbox-1", "echo open; read line; echo got $line");
      var run = new Said(world.startGpush("run", "saves.py"));
      terminal.until("open");
      pipe.until("open");
      run.until("ready 1");
      run.until("ready 0");

      // The word comes two seconds from now, and the end not before the test is over.
      world.gpush("extend", "--for", "10m2s").succeeded();

      terminal.until("whatever runs");
      assertEquals(0, run.ends(), run::text);
      assertTrue(run.text().contains("saved 0") && run.text().contains("saved 1"), run::text);
      assertTrue(
          run.text().contains("gpush: the session ends in")
              && run.text().contains(": USR1 to the ranks that handle it"),
          run::text);
      pipe.type("it");
      assertEquals(0, pipe.ends());
      assertEquals("open\ngot it\n", pipe.text());
      Result extended = world.gpush("extend", "--for", "1h").succeeded();
      assertTrue(extended.err().contains("1h"), extended::toString);
    }
  }
}
