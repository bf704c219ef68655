package dev.gpush.app;

import dev.gpush.core.file.RandomHex;
import dev.gpush.core.session.Holder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * The id of this home on this machine as a holder: a random id, in a file of the home for each
 * machine that has it. The file is locked while its gateway lives, over the network too where the
 * file system can: of two machines that were cloned with one machine id the second one gets a file
 * of its own.
 */
final class HolderFile implements AutoCloseable {
  /** More cloned machines in one home at a time are not expected. */
  private static final int MOST = 64;

  private static final int BYTES = 6;

  private final Path path;
  private final FileChannel file;
  private final Holder holder;
  private final Optional<Object> key;

  private HolderFile(Path path, FileChannel file, Holder holder) throws IOException {
    this.path = path;
    this.file = file;
    this.holder = holder;
    this.key = key(path);
  }

  /**
   * @param words for users, such as {@code ann@laptop:/home/ann/.gpush}
   * @param machine as {@link MachineId} has it
   */
  static HolderFile take(Home home, String words, String machine, RandomGenerator random)
      throws IOException {
    Path folder = Files.createDirectories(home.path().resolve("holders"));
    // A home that was copied has the same files but is another home.
    String name = machine + "-" + MachineId.hash(home.path().toString());
    for (int number = 1; number <= MOST; number++) {
      Path path = folder.resolve(number == 1 ? name : name + "-" + number);
      FileChannel file =
          FileChannel.open(
              path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
      boolean isTaken = false;
      try {
        if (isFree(file)) {
          var taken = new HolderFile(path, file, Holder.of(words, machine, id(file, random)));
          isTaken = true;
          return taken;
        }
      } finally {
        if (!isTaken) {
          file.close();
        }
      }
    }
    throw new IOException("all holders of " + folder + " are in use");
  }

  /** A file system without locks cannot tell. */
  private static boolean isFree(FileChannel file) {
    try {
      return file.tryLock() != null;
    } catch (OverlappingFileLockException byThisProcess) {
      return false;
    } catch (IOException noLocks) {
      return true;
    }
  }

  private static String id(FileChannel file, RandomGenerator random) throws IOException {
    var bytes = ByteBuffer.allocate(2 * BYTES);
    file.read(bytes, 0);
    var known = new String(bytes.array(), 0, bytes.position(), StandardCharsets.ISO_8859_1);
    if (known.matches("[0-9a-f]{12}")) {
      return known;
    }
    String made = RandomHex.of(random, BYTES);
    file.truncate(0);
    file.write(ByteBuffer.wrap((made + "\n").getBytes(StandardCharsets.ISO_8859_1)), 0);
    file.force(true);
    return made;
  }

  Holder holder() {
    return holder;
  }

  /**
   * Whether the home was removed, or is another folder now. The home's inode alone is not enough,
   * because a new folder may get the same.
   */
  boolean isGone() {
    try {
      return !key(path).equals(key);
    } catch (NoSuchFileException gone) {
      return true;
    } catch (IOException cannotTell) {
      return false;
    }
  }

  private static Optional<Object> key(Path path) throws IOException {
    return Optional.ofNullable(Files.readAttributes(path, BasicFileAttributes.class).fileKey());
  }

  /** After that, another gateway of this machine may have it. */
  @Override
  public void close() throws IOException {
    file.close();
  }
}
