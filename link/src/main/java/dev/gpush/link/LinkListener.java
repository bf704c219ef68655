package dev.gpush.link;

/**
 * Told of every change of a link's state, in order, on the link's own thread: hand over, do not
 * block.
 */
@FunctionalInterface
public interface LinkListener {
  void changed(LinkState state);
}
