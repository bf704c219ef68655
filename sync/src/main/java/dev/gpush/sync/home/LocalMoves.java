package dev.gpush.sync.home;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** Moves of files on this machine that replace nothing that a user saves at this moment. */
@SuppressWarnings("restricted")
public final class LocalMoves {
  private LocalMoves() {}

  /** Whether a file is what is expected. */
  @FunctionalInterface
  public interface Check {
    boolean is(Path file) throws IOException;
  }

  /**
   * Puts a file in the place of another one, if that is as expected. The two change places in one
   * step, and the one that was there is looked at again: what was saved since goes back.
   *
   * @return whether it is in place; the path that it came from may have the other one then
   */
  public static boolean replace(Path by, Path file, Check check) throws IOException {
    if (!check.is(file)) {
      return false;
    }
    List<Object> came = stamp(by);
    if (!Exchange.ofNames(by, file)) {
      if (check.is(file)) {
        Files.move(by, file, StandardCopyOption.ATOMIC_MOVE);
        return true;
      }
      return false;
    }
    boolean isMeant = false;
    try {
      isMeant = check.is(by);
    } finally {
      if (!isMeant) {
        putBack(by, file, came);
      }
    }
    return isMeant;
  }

  /** Of two saves the later one keeps the name. */
  private static void putBack(Path saved, Path file, List<Object> came) throws IOException {
    if (!Exchange.ofNames(saved, file)) {
      moveIfFree(saved, file); // The name was moved away meanwhile.
    } else if (!stamp(saved).equals(came)) {
      Exchange.ofNames(saved, file);
    }
  }

  private static List<Object> stamp(Path file) throws IOException {
    var found = Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    return List.of(String.valueOf(found.fileKey()), found.size(), found.lastModifiedTime());
  }

  /** Two names change places, which Java has no call for. */
  private static final class Exchange {
    private static final Linker LINKER = Linker.nativeLinker();
    private static final int HERE = -100;
    private static final int FLAG = 2;

    /** Empty where the system has none. */
    private static final Optional<MethodHandle> LINUX =
        call("renameat2", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT);

    private static final Optional<MethodHandle> MAC =
        call("renamex_np", ADDRESS, ADDRESS, JAVA_INT);

    private static Optional<MethodHandle> call(String name, MemoryLayout... parameters) {
      return LINKER
          .defaultLookup()
          .find(name)
          .map(at -> LINKER.downcallHandle(at, FunctionDescriptor.of(JAVA_INT, parameters)));
    }

    /** False where one of them is gone, or the disk cannot. */
    static boolean ofNames(Path one, Path other) {
      try (var arena = Arena.ofConfined()) {
        MemorySegment first = arena.allocateFrom(one.toAbsolutePath().toString());
        MemorySegment second = arena.allocateFrom(other.toAbsolutePath().toString());
        if (LINUX.isPresent()) {
          return (int) LINUX.get().invokeExact(HERE, first, HERE, second, FLAG) == 0;
        }
        return MAC.isPresent() && (int) MAC.get().invokeExact(first, second, FLAG) == 0;
      } catch (Throwable impossible) {
        throw new IllegalStateException(impossible);
      }
    }
  }

  /**
   * Moves a file or link to a place where nothing is, also when something is made there at this
   * moment, as far as the disk can: a second name first, then the first one goes.
   *
   * @throws FileAlreadyExistsException something is there
   */
  public static void moveIfFree(Path from, Path to) throws IOException {
    try {
      Files.createLink(to, from);
    } catch (FileAlreadyExistsException taken) {
      throw taken;
    } catch (FileSystemException | UnsupportedOperationException noLinks) {
      Files.move(from, to); // another disk, or one without hard links
      return;
    }
    Files.delete(from);
  }

  /** Removes a folder and those above it while they are empty, but not the last one. */
  public static void removeEmpty(Path folder, Path last) throws IOException {
    for (Path at = folder; at.startsWith(last) && !at.equals(last); ) {
      try {
        Files.deleteIfExists(at);
      } catch (FileSystemException notEmpty) {
        return;
      }
      at = Objects.requireNonNull(at.getParent());
    }
  }

  /** For those who may read it. */
  public static void makeExecutable(Path file) throws IOException {
    var permissions = Files.getPosixFilePermissions(file);
    for (String who : List.of("OWNER", "GROUP", "OTHERS")) {
      if (permissions.contains(PosixFilePermission.valueOf(who + "_READ"))) {
        permissions.add(PosixFilePermission.valueOf(who + "_EXECUTE"));
      }
    }
    Files.setPosixFilePermissions(file, permissions);
  }
}
