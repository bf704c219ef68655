package dev.gpush.control.client;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/**
 * The end of a running gateway, seen from outside. It has to be watched from before the gateway is
 * asked to end: a gateway removes its lock file, then its folder, and releases its lock last, so
 * only a file that was opened while it was there tells when everything is gone.
 */
final class GatewayEnd implements AutoCloseable {
  private final Optional<FileChannel> lock;

  private GatewayEnd(Optional<FileChannel> lock) {
    this.lock = lock;
  }

  /** Opens the lock file of a gateway, without making one. */
  static GatewayEnd of(Path lock) {
    try {
      return new GatewayEnd(Optional.of(FileChannel.open(lock, StandardOpenOption.WRITE)));
    } catch (IOException gone) {
      return new GatewayEnd(Optional.empty());
    }
  }

  /** Whether the gateway has released its lock, which ends with its process in any case. */
  boolean isReached() {
    if (lock.isEmpty()) {
      return true;
    }
    try (FileLock taken = lock.get().tryLock()) {
      return taken != null;
    } catch (OverlappingFileLockException heldByThisProcess) {
      return false;
    } catch (IOException gone) {
      return true;
    }
  }

  @Override
  public void close() {
    try {
      if (lock.isPresent()) {
        lock.get().close();
      }
    } catch (IOException closedAnyway) {
      // Nothing was written to it.
    }
  }
}
