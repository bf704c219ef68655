package dev.gpush.control.place;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * The short, private, per-host folder with the files that live as long as the gateway: socket,
 * locks, ports. The path of the home itself may be long (a socket's path has to stay under 100
 * bytes) or on a file system shared between hosts (where a socket works on one host only).
 *
 * <p>Its path depends on nothing that differs between two terminals of one user. XDG_RUNTIME_DIR
 * was considered and rejected: it is unset in cron jobs and some ssh sessions, and its folder is
 * removed with the last login while the gateway stays.
 */
public record RunFolder(Path path) {
  /**
   * All are local to the host. A later one is used when another user has the name in an earlier
   * one.
   */
  private static final List<Path> ROOTS =
      List.of(Path.of("/tmp"), Path.of("/var/tmp"), Path.of("/dev/shm"));

  /** As many as Linux follows; more are a circle. */
  private static final int MOST_LINKS = 40;

  private static final Path LASTING = Path.of("/var/tmp");

  private static final int PERMISSION_BITS = 0777;
  private static final int OWNER_ONLY = 0700;

  /** The folder of a home; nothing is made. */
  public static RunFolder of(Path home) throws IOException {
    return of(home, ROOTS);
  }

  static RunFolder of(Path home, List<Path> roots) throws IOException {
    long user = userId();
    for (Path root : roots) {
      Path base = root.resolve("gpush-" + user);
      // In this order: another process of this user may make it between the two.
      if ((isAbsent(base) && Files.isWritable(root)) || isPrivate(base, user)) {
        return new RunFolder(base.resolve("gateway-" + nameFor(home)));
      }
    }
    throw new IOException("no folder for runtime files: none of " + roots + " can be used");
  }

  /**
   * The real path of a home, the same before and after it is made: if the home does not exist yet,
   * the links of the nearest existing folder above it are followed.
   */
  public static Path realHome(Path home) {
    return real(home.toAbsolutePath(), MOST_LINKS);
  }

  private static Path real(Path path, int links) {
    try {
      return path.toRealPath();
    } catch (IOException notThereYet) {
      Path parent = path.getParent();
      Path name = path.getFileName();
      if (parent == null || name == null || links == 0) {
        return path.normalize();
      }
      Path target = target(path);
      return target.equals(path)
          ? real(parent, links).resolve(name).normalize()
          : real(target, links - 1);
    }
  }

  /** The target of a dangling link; otherwise the path itself. */
  private static Path target(Path path) {
    try {
      return Files.isSymbolicLink(path) ? path.resolveSibling(Files.readSymbolicLink(path)) : path;
    } catch (IOException unreadable) {
      return path;
    }
  }

  /**
   * A folder of this user alone that is local to the host and stays when it restarts, made if it is
   * not there.
   */
  public static Path lasting() throws IOException {
    Path folder = LASTING.resolve("gpush-" + userId());
    makePrivate(folder);
    return folder;
  }

  /** Makes the folder if it is not there, for this user alone. */
  public RunFolder make() throws IOException {
    Path base = path.getParent();
    if (base == null) {
      throw new IllegalStateException("a run folder lies in a folder: " + path);
    }
    makePrivate(base);
    makePrivate(path);
    return this;
  }

  /** The control socket. */
  public Path socket() {
    return path.resolve("gateway.sock");
  }

  /** The socket of the SSH server, where it does not listen on a port. */
  public Path sshSocket() {
    return path.resolve("ssh.sock");
  }

  /** Locked by the gateway as long as it lives; tells host, process and home. */
  public Path lock() {
    return path.resolve("gateway.lock");
  }

  /** Locked by the client that starts a gateway. */
  public Path startLock() {
    return path.resolve("start.lock");
  }

  /**
   * This process's user. The JDK has no quick call for it; on Linux the owner of this process's
   * entry in /proc is read.
   */
  public static long userId() throws IOException {
    return userId(Path.of("/proc/self"));
  }

  static long userId(Path self) throws IOException {
    if (Files.isDirectory(self)) {
      return ((Integer) Files.getAttribute(self, "unix:uid")).longValue();
    }
    return new com.sun.security.auth.module.UnixSystem().getUid();
  }

  private static void makePrivate(Path folder) throws IOException {
    try {
      Files.createDirectory(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException there) {
      if (!isPrivate(folder, userId())) {
        throw new IOException(folder + " is not a folder of this user alone", there);
      }
    }
  }

  private static boolean isAbsent(Path path) {
    return !Files.exists(path, LinkOption.NOFOLLOW_LINKS);
  }

  private static boolean isPrivate(Path folder, long user) {
    try {
      Map<String, Object> facts =
          Files.readAttributes(folder, "unix:uid,mode,isDirectory", LinkOption.NOFOLLOW_LINKS);
      return facts.get("isDirectory") instanceof Boolean directory
          && directory
          && facts.get("uid") instanceof Integer owner
          && owner == (int) user
          && facts.get("mode") instanceof Integer mode
          && (mode & PERMISSION_BITS) == OWNER_ONLY;
    } catch (IOException absent) {
      return false;
    }
  }

  /**
   * Twelve hex digits of a 64-bit FNV-1a hash. A collision of two homes is detected by the
   * greeting, which has the home; a cryptographic hash would cost the client a security provider at
   * every start.
   */
  private static String nameFor(Path home) {
    long hash = 0xcbf29ce484222325L;
    for (byte part : home.toString().getBytes(StandardCharsets.UTF_8)) {
      hash = (hash ^ (part & 0xff)) * 0x100000001b3L;
    }
    return HexFormat.of().toHexDigits(hash, 12);
  }
}
