package dev.gpush.shell.command.reach;

import java.util.Optional;

/**
 * A source or a target of a copy as users write it.
 *
 * @param node empty for a path on this machine; else what stands before the colon: the name of a
 *     session, with or without a node (devbox, devbox-1), a node of the folder's session (1), all,
 *     or nothing
 */
record CopyPath(Optional<String> node, String path) {
  static final String ALL = "all";

  /** As scp: a colon behind a slash belongs to a file here, as in {@code ./a:b}. */
  static CopyPath of(String text) {
    int colon = text.indexOf(':');
    int slash = text.indexOf('/');
    return colon < 0 || (slash >= 0 && slash < colon)
        ? new CopyPath(Optional.empty(), text)
        : new CopyPath(Optional.of(text.substring(0, colon)), text.substring(colon + 1));
  }

  boolean isHere() {
    return node.isEmpty();
  }
}
