package dev.gpush.core.talk;

import dev.gpush.core.json.Json;
import java.nio.file.Path;

/**
 * The program of {@code gpush cp}. The client runs it, so that files are read and written with the
 * user's rights, in the user's folder and with the user's mounts.
 */
public interface CopyProgram {
  /** An archive that Python runs, of this build; it is written if it is not there. */
  Path file();

  /** Where the program finds the gateway, and how it starts it: socket, home, build, launcher. */
  Json.Obj place();
}
