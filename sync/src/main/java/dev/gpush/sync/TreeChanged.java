package dev.gpush.sync;

import java.nio.file.Path;

/**
 * A file is not any more what the scan saw, and must be looked at again. Never leaves the module.
 */
final class TreeChanged extends Exception {
  private static final long serialVersionUID = 1;

  private final transient Path file;

  TreeChanged(Path file) {
    super(file.toString());
    this.file = file;
  }

  Path file() {
    return file;
  }
}
