package dev.gpush.sync.watch;

import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Set;

/** Chooses how a folder is watched. */
public final class Watchers {
  /**
   * File systems on which other machines write too, or that report nothing: the events of this
   * machine's kernel do not tell everything there.
   */
  private static final Set<String> WITHOUT_EVENTS =
      Set.of(
          "nfs",
          "nfs4",
          "cifs",
          "smb3",
          "smbfs",
          "9p",
          "v9fs",
          "afs",
          "ceph",
          "lustre",
          "gpfs",
          "beegfs",
          "glusterfs",
          "virtiofs",
          "vboxsf",
          "prl_fs",
          "drvfs",
          "wekafs",
          "fuse");

  private Watchers() {}

  /** A watcher for this tree; where events do not work, one that says why. */
  public static TreeWatcher of(Path root, Tasks tasks) {
    return of(root, tasks, Linker.nativeLinker().defaultLookup());
  }

  static TreeWatcher of(Path root, Tasks tasks, SymbolLookup library) {
    if (!Inotify.isIn(library)) {
      return new ScanningWatcher("events are not used on this system yet");
    }
    String type = type(root);
    if (isWithoutEvents(type)) {
      return new ScanningWatcher(why(type, root));
    }
    try {
      return InotifyWatcher.open(InotifyLimits.mostFolders(), tasks);
    } catch (Inotify.Failed failed) {
      return new ScanningWatcher(InotifyWatcher.why(failed));
    }
  }

  /**
   * For a tree whose saves nobody sends.
   *
   * @param reason for the user; empty when the user wants it so
   */
  public static TreeWatcher none(String reason) {
    return new ScanningWatcher(reason);
  }

  static boolean isWithoutEvents(String type) {
    String name = type.toLowerCase(Locale.ROOT);
    return WITHOUT_EVENTS.contains(name) || name.startsWith("fuse.");
  }

  static String why(String type, Path root) {
    return root.startsWith("/mnt") && Set.of("9p", "drvfs").contains(type.toLowerCase(Locale.ROOT))
        ? "disks of Windows report no changes to WSL, and are slow; folders below ~ are fast"
        : type + " reports no changes of other machines";
  }

  private static String type(Path root) {
    try {
      return Files.getFileStore(root).type();
    } catch (IOException | SecurityException unknown) {
      return "";
    }
  }
}
