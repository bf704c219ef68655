package dev.gpush.link;

/**
 * Called for every change of a link's state, in order, on the link's own thread; must not block.
 */
@FunctionalInterface
public interface LinkListener {
  void changed(LinkState state);
}
