package dev.gpush.sync.scan;

import dev.gpush.sync.git.IgnoreStack;
import java.util.Map;
import java.util.TreeMap;

/**
 * The files of one folder that decide what is sent: when one of them changes, all that is below the
 * folder is looked at again.
 *
 * @param at when they were looked at
 */
record RuleStamps(Map<String, FileStamp> files, long at) {
  RuleStamps {
    files = Map.copyOf(files);
  }

  static RuleStamps none() {
    return new RuleStamps(Map.of(), 0);
  }

  /** From the children of a folder; of a {@code .git} folder only its existence counts. */
  static RuleStamps of(Map<String, FileStamp.Look> children, long at) {
    var found = new TreeMap<String, FileStamp>();
    for (String name :
        new String[] {IgnoreStack.GIT, IgnoreStack.GIT_IGNORE, IgnoreStack.GPUSH_IGNORE}) {
      FileStamp.Look look = children.get(name);
      if (look != null) {
        FileStamp stamp = look.stamp();
        found.put(name, look.isFolder() ? new FileStamp(0, 0, 0, stamp.inode()) : stamp);
      }
    }
    return found.isEmpty() ? none() : new RuleStamps(found, at);
  }

  /** Whether the rules are those of the other look, which came first. */
  boolean areStill(RuleStamps before) {
    return files.equals(before.files)
        && before.files.values().stream().allMatch(stamp -> stamp.isSettled(before.at));
  }
}
