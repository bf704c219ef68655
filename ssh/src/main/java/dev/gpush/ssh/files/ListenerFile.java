package dev.gpush.ssh.files;

import dev.gpush.core.file.WholeFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Which process listens on the port: its number, when it started in ticks of the kernel, and the
 * port. The process that has this number now is that one only if it started then, so a gateway that
 * was killed is taken for nobody else. The script that ssh runs before it connects looks at it,
 * which is faster than to ask the port. Where there is no /proc there is no such file either.
 */
public final class ListenerFile {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  /** Of the fields of /proc/PID/stat that come after the name. */
  private static final int STARTED = 19;

  private final Path file;

  public ListenerFile(Path home) {
    this.file = home.resolve("ssh_listener");
  }

  Path file() {
    return file;
  }

  /** This process listens. */
  public void write(int port) {
    try {
      String stat = Files.readString(Path.of("/proc/self/stat"), StandardCharsets.ISO_8859_1);
      String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
      String text = ProcessHandle.current().pid() + " " + fields[STARTED] + " " + port + "\n";
      WholeFile.write(file, text, "rw-------");
    } catch (IOException none) {
      // The script asks the port.
    }
  }

  public void delete() {
    try {
      Files.deleteIfExists(file);
    } catch (IOException failed) {
      LOG.log(System.Logger.Level.WARNING, "a file of a gateway that has ended stays", failed);
    }
  }
}
