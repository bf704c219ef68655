package dev.gpush.sync.home;

import dev.gpush.sync.tree.Merge;

/**
 * Where people edit, and what becomes of that.
 *
 * @param node its number, as in {@code sync: {edit: 1}}
 */
public record Editors(int node, Merge.Editing editing) {
  /** Their changes come home. */
  public static Editors on(int node) {
    return new Editors(node, Merge.Editing.COMES_HOME);
  }

  public boolean bringHome() {
    return editing == Merge.Editing.COMES_HOME;
  }
}
