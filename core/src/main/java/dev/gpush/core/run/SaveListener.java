package dev.gpush.core.run;

import dev.gpush.core.failure.Failure;

/** What happens while a run waits for saves; called on a thread of the gateway. */
public interface SaveListener {
  /** All nodes have the files; the ranks are stopped next. */
  void saved(SavedFiles files);

  /**
   * A save cannot be brought to the nodes, or the ranks cannot be stopped. Told once per reason.
   */
  void failed(Failure failure);
}
