package dev.gpush.sync.tree;

/**
 * One version of the workspace on the nodes.
 *
 * @param counter grows with every change that was committed
 * @param root {@link Manifest#root}
 */
public record Generation(long counter, String root) {
  /** What a node has before the first push. */
  public static Generation none() {
    return new Generation(0, Manifest.empty().root());
  }

  @Override
  public String toString() {
    return "G" + counter;
  }
}
