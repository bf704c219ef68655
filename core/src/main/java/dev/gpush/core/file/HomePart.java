package dev.gpush.core.file;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A folder inside the gateway's home. */
public final class HomePart {
  private HomePart() {}

  /**
   * Makes it, but not the home: a home that was removed must not come back, half empty, because a
   * session changed in that second.
   *
   * @throws java.nio.file.NoSuchFileException when the home is gone
   */
  public static Path make(Path folder) throws IOException {
    try {
      return Files.createDirectory(folder);
    } catch (FileAlreadyExistsException there) {
      if (!Files.isDirectory(folder)) {
        throw there;
      }
      return folder;
    }
  }
}
