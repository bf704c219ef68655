package dev.gpush.acceptance;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;

/**
 * Two pretended GPUs whose nvidia-smi stops answering the n-th time it is asked for them. A command
 * that needs them waits there, so that a test can interrupt it at a known place.
 */
final class SilentGpus {
  private static final String TOOL =
      """
      #!/bin/sh
      case "$1" in *compute-apps*) exit 0;; esac
      echo asked >>'ASKED'
      test "$(grep -c . 'ASKED')" -lt LAST || exec tail -f /dev/null
      printf '0, GPU-0, NVIDIA H100\\n1, GPU-1, NVIDIA H100\\n'
      """;

  private final World world;
  private final Path folder;
  private final int last;

  private SilentGpus(World world, Path folder, int last) {
    this.world = world;
    this.folder = folder;
    this.last = last;
  }

  /**
   * Also configures this home to lock its GPUs in a folder of its own.
   *
   * @param last the question that gets no answer; 1 is the first
   */
  static SilentGpus from(World world, int last) throws IOException {
    Path folder = Files.createDirectories(world.home().resolve("silent-" + last));
    String text =
        TOOL.replace("ASKED", folder.resolve("asked").toString()).replace("LAST", "" + last);
    Path tool = Files.writeString(folder.resolve("nvidia-smi"), text);
    Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwx------"));
    String config = "backends: {local: {kind: local, locks: %s/locks}}\n".formatted(world.home());
    Files.writeString(world.home().resolve("config.yaml"), config);
    return new SilentGpus(world, folder, last);
  }

  /** Two that always answer: runs gpush, and the gateway that it starts, with them. */
  static Result answering(World world, String... words) throws Exception {
    SilentGpus gpus = from(world, Integer.MAX_VALUE);
    return world.run(new byte[0], gpus.command(words).toArray(String[]::new));
  }

  private List<String> command(String... words) {
    String path = "PATH=" + folder + ":" + System.getenv("PATH");
    var command = new ArrayList<>(List.of("env", path, world.launcher().toString()));
    command.addAll(List.of(words));
    return command;
  }

  /** Starts gpush with these words and returns when it waits for the answer. */
  Process start(String... words) throws Exception {
    Process process = world.start(world.project(), command(words));
    World.until("the GPUs were asked for " + last + " times", () -> questions() == last);
    return process;
  }

  private long questions() {
    try {
      Path asked = folder.resolve("asked");
      return Files.exists(asked) ? Files.readString(asked).lines().count() : 0;
    } catch (IOException failed) {
      throw new IllegalStateException(failed);
    }
  }
}
