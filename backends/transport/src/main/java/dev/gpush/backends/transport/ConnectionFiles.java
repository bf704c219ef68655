package dev.gpush.backends.transport;

import dev.gpush.core.file.Sha256;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Files about the connections to one machine, under names that the next gateway finds again. */
record ConnectionFiles(Path folder, String name) {
  private static final int NAME_BYTES = 6;

  static ConnectionFiles of(SshSettings settings, Destination destination) {
    String text = settings.config().map(Path::toString).orElse("") + "\n" + destination;
    return new ConnectionFiles(settings.folder(), Sha256.hex(text, NAME_BYTES));
  }

  /** The socket of a connection, in a folder that is there. */
  Path socket(int number) throws IOException {
    if (!Files.isDirectory(folder)) {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    return folder.resolve(name + "-" + number);
  }

  /** Exists where the user had to log in: the next gateway must know it too. */
  Path personal() {
    return folder.resolve(name + "-0.person");
  }
}
