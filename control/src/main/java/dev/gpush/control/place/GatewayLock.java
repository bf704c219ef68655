package dev.gpush.control.place;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/**
 * The right to be the gateway of a home: a lock on a file, which ends with the process in any case.
 * What the file says (host, process, home) is for people.
 *
 * <p>Nothing else in the gateway's process may open the file: on POSIX systems closing any
 * descriptor of a file drops the process's locks on it.
 */
public final class GatewayLock implements AutoCloseable {
  private final RunFolder folder;
  private final Path path;
  private final FileChannel file;
  private final FileLock lock;
  private final String key;

  private GatewayLock(RunFolder folder, FileChannel file, FileLock lock) {
    this.folder = folder;
    this.path = folder.lock();
    this.file = file;
    this.lock = lock;
    this.key = key(path);
  }

  /** Takes the lock if nobody has it, making the folder if it is not there. */
  public static Optional<GatewayLock> tryTake(RunFolder folder, String holder) throws IOException {
    Path path = folder.make().lock();
    FileChannel file;
    String before;
    try {
      FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE).close();
      before = key(path);
      file = FileChannel.open(path, StandardOpenOption.WRITE);
    } catch (NoSuchFileException justRemoved) {
      return Optional.empty();
    }
    try {
      FileLock lock = file.tryLock();
      // A gateway that ends removes its file: then what was locked is not what others find.
      if (lock != null && !before.isEmpty() && before.equals(key(path))) {
        file.truncate(0);
        file.write(ByteBuffer.wrap((holder + "\n").getBytes(StandardCharsets.UTF_8)));
        return Optional.of(new GatewayLock(folder, file, lock));
      }
    } catch (OverlappingFileLockException heldByThisProcess) {
      // Treated as held by another process.
    } catch (IOException failed) {
      file.close();
      throw failed;
    }
    file.close();
    return Optional.empty();
  }

  /**
   * Whether the path still names the locked file; otherwise another process could lock a new one.
   */
  public boolean isIntact() {
    return key(path).equals(key);
  }

  /** Updates its time, because cleaners of temporary folders remove old files. */
  public void touch() throws IOException {
    file.write(ByteBuffer.wrap(new byte[] {'\n'}), file.size() - 1);
  }

  /** Releases the lock and removes the file. The last thing a gateway does. */
  @Override
  public void close() throws IOException {
    try {
      if (isIntact()) {
        Files.deleteIfExists(path);
        Files.deleteIfExists(folder.startLock());
        Files.deleteIfExists(folder.path());
      }
    } catch (DirectoryNotEmptyException inUse) {
      // The next gateway is starting.
    } finally {
      lock.release();
      file.close();
    }
  }

  /**
   * Device and inode; empty when there is no such file. The file must not be opened a second time,
   * because closing that would drop the lock.
   */
  private static String key(Path path) {
    try {
      return String.valueOf(Files.readAttributes(path, BasicFileAttributes.class).fileKey());
    } catch (IOException gone) {
      return "";
    }
  }
}
