package dev.gpush.app;

import dev.gpush.control.place.RunFolder;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.file.Sha256;
import dev.gpush.core.file.WholeFile;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Distinguishes this machine from others that may share a home with it: twelve hex digits that do
 * not change with its name. Made from the system's own id if it has one, else kept in a file that
 * is local to the machine. The system's id itself is confidential, so only a hash is used.
 */
final class MachineId {
  private static final List<Path> SYSTEM =
      List.of(Path.of("/etc/machine-id"), Path.of("/var/lib/dbus/machine-id"));

  /** So that no other program's hash of the same id is the same. */
  private static final String PURPOSE = "gpush machine ";

  private static final int BYTES = 6;

  private MachineId() {}

  static String current(RandomGenerator random) throws IOException {
    Optional<String> system = ofSystem(SYSTEM);
    return system.isPresent()
        ? system.get()
        : stored(RunFolder.lasting().resolve("machine-id"), random);
  }

  /** Empty where the system has none, as in most containers and on macOS. */
  static Optional<String> ofSystem(List<Path> files) throws IOException {
    for (Path file : files) {
      Optional<String> id = read(file).filter(text -> text.matches("[0-9a-f]{32}"));
      if (id.isPresent()) {
        return Optional.of(hash(PURPOSE + id.get()));
      }
    }
    return Optional.empty();
  }

  static String stored(Path stored, RandomGenerator random) throws IOException {
    Optional<String> known = read(stored).filter(text -> text.matches("[0-9a-f]{12}"));
    if (known.isPresent()) {
      return known.get();
    }
    String made = RandomHex.of(random, BYTES);
    WholeFile.write(stored, made + "\n", WholeFile.PRIVATE);
    return made;
  }

  private static Optional<String> read(Path file) throws IOException {
    try {
      return Optional.of(Files.readString(file, StandardCharsets.ISO_8859_1).strip());
    } catch (NoSuchFileException none) {
      return Optional.empty();
    }
  }

  static String hash(String text) {
    return Sha256.hex(text, BYTES);
  }
}
