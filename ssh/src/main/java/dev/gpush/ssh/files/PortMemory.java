package dev.gpush.ssh.files;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.WholeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * The port that this home listens on. Editors and known_hosts remember it, so it stays the same:
 * the last one is tried first, then some that are derived from the home's path. They are below the
 * ports that systems use for outgoing connections, so that no other program gets the port while the
 * gateway is stopped.
 */
public final class PortMemory {
  private static final int FIRST = 22_000;
  private static final int SPREAD = 9_000;
  private static final int TRIES = 64;
  private static final int PRIVILEGED = 1_024;
  private static final int LAST = 65_535;

  private final Path home;

  public PortMemory(Path home) {
    this.home = home;
  }

  Path file() {
    return home.resolve("ssh_port");
  }

  public Set<Integer> candidates() {
    var candidates = new LinkedHashSet<Integer>();
    int last = last();
    if (last != 0) {
      candidates.add(last);
    }
    int start = Math.floorMod(home.toString().hashCode(), SPREAD);
    for (int i = 0; i < TRIES; i++) {
      candidates.add(FIRST + (start + i) % SPREAD);
    }
    return candidates;
  }

  /** 0 when none is known, or the file holds something else. */
  private int last() {
    try {
      String text = Files.readString(file()).strip();
      int port = text.matches("[0-9]{1,5}") ? Integer.parseInt(text) : 0;
      return port > PRIVILEGED && port <= LAST ? port : 0;
    } catch (IOException none) {
      return 0;
    }
  }

  public void remember(int port) {
    try {
      if (last() != port) {
        WholeFile.write(file(), port + "\n", "rw-r--r--");
      }
    } catch (IOException failed) {
      throw new GpushException(
          new GatewayFailure.HomeUnusable(file().toString(), FileReason.of(failed)), failed);
    }
  }
}
