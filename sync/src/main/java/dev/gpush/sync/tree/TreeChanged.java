package dev.gpush.sync.tree;

import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/** A file has changed since the scan, and must be read again. Never leaves the module. */
public final class TreeChanged extends Exception {
  private static final long serialVersionUID = 1;

  private final transient Path file;

  public TreeChanged(Path file) {
    super(file.toString());
    this.file = file;
  }

  public Path file() {
    return file;
  }

  /** Why it cannot be sent, as a clause. */
  public String why() {
    boolean isClosed = !Files.isReadable(file) && !Files.notExists(file, LinkOption.NOFOLLOW_LINKS);
    return isClosed
        ? "it cannot be read, and a node lacks it"
        : "it changes faster than it can be sent";
  }
}
