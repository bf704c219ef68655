package dev.gpush.sync.home;

import dev.gpush.sync.node.SyncMessages;

/**
 * What the editors' node says by itself: that something has changed there. Thread-safe.
 *
 * <p>It says so in the conversation that pushes use, and as long as that is open. A node that
 * cannot, because its agent is older, is asked now and then instead.
 */
public final class NodeWatch implements SyncMessages.Watching {
  // guarded by this
  private Runnable listener = () -> {};
  private boolean isWanted;
  private boolean isOn;
  private boolean isDue;
  private String slow = "";

  /**
   * Conversations that are opened from now on are to say it.
   *
   * @param changed on any thread, each time that there is something to look at; must not block
   */
  public synchronized void listen(Runnable changed) {
    listener = changed;
    isWanted = true;
  }

  public synchronized boolean isWanted() {
    return isWanted;
  }

  /** Whether it need not be asked. */
  public synchronized boolean isOn() {
    return isOn;
  }

  /** Why changes there are noticed late; empty when they are noticed at once. */
  public synchronized String slow() {
    return slow;
  }

  /** There may be something to look at. */
  public synchronized boolean isDue() {
    return isDue;
  }

  /** What changes from now on is due again. To be called before the look. */
  public synchronized void looking() {
    isDue = false;
  }

  /** It is looked at again. */
  public void due() {
    Runnable tell;
    synchronized (this) {
      isDue = true;
      tell = listener;
    }
    tell.run();
  }

  @Override
  public void watched(String by, String why) {
    synchronized (this) {
      isOn = true;
      slow = by.equals("events") ? "" : why;
    }
    // Something may have changed before.
    due();
  }

  @Override
  public void changed() {
    due();
  }

  @Override
  public void ended() {
    boolean wasOn;
    synchronized (this) {
      wasOn = isOn;
      isOn = false;
    }
    if (wasOn) {
      due(); // The look opens another conversation.
    }
  }
}
