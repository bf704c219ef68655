package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * What a person has open while something stands still: a counter in a terminal, a counter in a run
 * and its logs, and a download in its middle. None of them may lose a byte or end before its time.
 */
final class Traffic {
  private final World world;

  /** Of its own, on node 0. */
  private final String folder;

  private final long size;
  private final String hash;
  private Process counter;
  private CompletableFuture<byte[]> counted;
  private Process logs;
  private CompletableFuture<byte[]> logged;
  private Process download;
  private byte[] head;

  private Traffic(World world, String folder, long size, String hash) {
    this.world = world;
    this.folder = folder;
    this.size = size;
    this.hash = hash;
  }

  /** On a session that is up; all of it has begun when this returns. */
  static Traffic begin(World world, int megabytes) throws Exception {
    String make =
        "d=$(mktemp -d) && head -c %dM /dev/urandom >$d/big && sha256sum <$d/big && echo $d"
            .formatted(megabytes);
    List<String> made = world.gpush("exec", make).succeeded().out().lines().toList();
    var traffic =
        new Traffic(
            world, made.get(1), (long) megabytes << 20, made.getFirst().replaceFirst(" .*", ""));
    traffic.count();
    traffic.download();
    return traffic;
  }

  private void count() throws Exception {
    world.file(
        "count.py",
        "import os, time\ni = 0\nwhile not os.path.exists('%s/go'):\n".formatted(folder)
            + "    i += 1\n    print(i, flush=True)\n    time.sleep(0.02)\nprint('end', i)\n");
    world.file(
        "count.sh",
        "i=0\nwhile [ ! -e %s/go ]; do i=$((i+1)); echo $i; sleep 0.02; done\n".formatted(folder)
            + "echo end $i\nexit 5\n");
    world.gpush("run", "--detach", "count.py").succeeded();
    counter = terminal("sh " + folder(world) + "/count.sh");
    counted = World.read(counter.getInputStream());
    logs = world.startGpush("logs", "-f");
    logged = World.read(logs.getInputStream());
  }

  /** Where the workspace is on node 0. */
  static String folder(World world) throws Exception {
    return world.gpush("exec", "pwd").succeeded().out().strip();
  }

  private void download() throws Exception {
    download = world.start(world.project(), world.ssh("devbox", "cat " + folder + "/big"));
    head = download.getInputStream().readNBytes(1 << 20);
  }

  /** An ssh client that has a terminal. */
  private Process terminal(String command) throws IOException {
    var all =
        new ArrayList<>(
            List.of(
                "python3",
                "-c",
                "import os, pty, sys; s = pty.spawn(sys.argv[1:]); sys.exit(os.WEXITSTATUS(s))"));
    all.addAll(world.ssh("-tt", "devbox", command));
    return world.start(world.project(), all);
  }

  /** Lets all of it come to its end, and looks at every byte. */
  void endsWhole() throws Exception {
    InputStream coming = download.getInputStream();
    byte[] rest = coming.readAllBytes();
    assertEquals(size, head.length + (long) rest.length);
    assertEquals(hash, sha(head, rest));
    ends(download, 0);

    assertTrue(counter.isAlive(), "the ssh client has not noticed");
    assertTrue(logs.isAlive(), "gpush logs has not noticed");
    world.gpush("exec", "touch " + folder + "/go").succeeded();
    ends(counter, 5);
    isGapless(counted.get());
    ends(logs, 0);
    isGapless(logged.get());
    world.gpush("exec", "rm -r " + folder).succeeded();
  }

  private static void ends(Process process, int status) throws Exception {
    assertEquals(status, process.waitFor());
  }

  private static String sha(byte[]... parts) throws Exception {
    var digest = MessageDigest.getInstance("SHA-256");
    for (byte[] part : parts) {
      digest.update(part);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static void isGapless(byte[] said) {
    List<String> lines =
        new String(said, StandardCharsets.UTF_8)
            .lines()
            .map(line -> line.replaceFirst("^\\[0\\] ", "").strip())
            .filter(line -> line.matches("[0-9]+|end [0-9]+"))
            .toList();
    int last = lines.size() - 1;
    for (int i = 0; i < last; i++) {
      assertEquals(Integer.toString(i + 1), lines.get(i));
    }
    assertTrue(last > 20, lines::toString);
    assertEquals("end " + last, lines.get(last));
  }
}
