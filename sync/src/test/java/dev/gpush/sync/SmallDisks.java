package dev.gpush.sync;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/** File systems of a few MiB, which a test fills. Only root can mount them, and not everywhere. */
final class SmallDisks {
  private static final int PIECE = 256 << 10;
  private static final String FILLER = "filler";

  private final List<Path> mounts = new ArrayList<>();

  /** Mounts one on an empty folder; false if that cannot be done here. */
  boolean mount(Path folder) throws IOException, InterruptedException {
    Files.createDirectories(folder);
    boolean isMounted =
        System.getProperty("user.name").equals("root")
            && run("mount", "-t", "tmpfs", "-o", "size=4m", "gpush-test", folder.toString());
    if (isMounted) {
      mounts.add(folder);
    }
    return isMounted;
  }

  /** Fills it until that many bytes are left. */
  void fill(Path mount, int left) throws IOException {
    Path filler = mount.resolve(FILLER);
    try (OutputStream out = Files.newOutputStream(filler)) {
      while (true) {
        out.write(new byte[PIECE]);
      }
    } catch (IOException full) {
      try (var channel = Files.newByteChannel(filler, StandardOpenOption.WRITE)) {
        channel.truncate(Math.max(0, channel.size() - left));
      }
    }
  }

  void free(Path mount) throws IOException {
    Files.deleteIfExists(mount.resolve(FILLER));
  }

  /** Unmounts each of them. One that is still in use is gone when its last user is. */
  void close() throws Exception {
    var all = new ArrayList<AutoCloseable>();
    mounts.forEach(mount -> all.add(() -> unmount(mount.toString())));
    mounts.clear();
    SyncFixture.closeAll(all);
  }

  private static void unmount(String mount) throws IOException, InterruptedException {
    if (!run("umount", mount) && !run("umount", "-l", mount)) {
      throw new IOException(mount + " cannot be unmounted");
    }
  }

  private static boolean run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start()
            .waitFor()
        == 0;
  }
}
