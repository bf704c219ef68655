package dev.gpush.sync.scan;

import java.nio.file.Path;

/** Is told which folders a scan looks into, so that changes in them can be watched. */
public interface FolderListener {
  /** Called before the folder is listed: what changes from now on must be reported. */
  void entering(Path folder);

  /** The folder is no longer looked into. */
  void left(Path folder);

  static FolderListener none() {
    return new FolderListener() {
      @Override
      public void entering(Path folder) {}

      @Override
      public void left(Path folder) {}
    };
  }
}
