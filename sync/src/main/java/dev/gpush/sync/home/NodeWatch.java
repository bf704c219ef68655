package dev.gpush.sync.home;

import dev.gpush.sync.node.SyncMessages;
import dev.gpush.sync.tree.Manifest;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What the editors' node says by itself: that something has changed there, and perhaps where.
 * Thread-safe.
 *
 * <p>It says so in the conversation that pushes use, and as long as that is open. At first, and
 * when a conversation ends, there is something to look at: the look opens another one.
 */
public final class NodeWatch implements SyncMessages.Watching {
  /** With more edited files all is looked at. */
  private static final int MOST_PATHS = 1_000;

  /**
   * What there is to look at.
   *
   * @param isAll everything
   * @param paths of files that gpush has written, if it is not everything
   */
  public record Due(boolean isAll, Set<String> paths) {
    private static final Due NOTHING = new Due(false, Set.of());

    public Due {
      paths = Set.copyOf(paths);
    }

    public static Due all() {
      return new Due(true, Set.of());
    }

    private Due and(List<String> more) {
      var both = new HashSet<>(paths);
      both.addAll(more);
      return isAll || more.isEmpty() || both.size() > MOST_PATHS ? all() : new Due(false, both);
    }
  }

  // guarded by this
  private Runnable listener = () -> {};
  private boolean isWanted;
  private Due due = Due.NOTHING;
  private String slow = "";
  private Manifest here = Manifest.empty();

  /**
   * Conversations that are opened from now on are to say it.
   *
   * @param changed on any thread, each time that there is something to look at; must not block
   */
  public synchronized void listen(Runnable changed) {
    listener = changed;
    isWanted = true;
    due = Due.all();
  }

  public synchronized boolean isWanted() {
    return isWanted;
  }

  /** Why changes there are noticed late; empty when they are noticed at once. */
  public synchronized String slow() {
    return slow;
  }

  /** There may be something to look at. */
  public synchronized boolean isDue() {
    return !due.equals(Due.NOTHING);
  }

  /**
   * Returns what a look has to cover, and forgets it. Call it before the look: a change during the
   * look needs another one.
   */
  public synchronized Due looking() {
    Due now = due;
    due = Due.NOTHING;
    return now;
  }

  /** All is looked at again. */
  public void due() {
    changed(List.of());
  }

  /**
   * Takes note of the tree here. If a rule file has changed, the node may still be silent about
   * names that are no longer ignored. Then the next look covers everything and sends the node the
   * new list of ignored names.
   */
  public void seen(Manifest now) {
    boolean areOther;
    synchronized (this) {
      areOther = here.size() > 0 && ChangesThere.areOtherRules(here, now);
      here = now;
    }
    if (areOther) {
      due();
    }
  }

  @Override
  public void watched(String by, String why) {
    synchronized (this) {
      slow = by.equals("events") ? "" : why;
    }
    // Something may have changed before.
    due();
  }

  @Override
  public void changed(List<String> paths) {
    Runnable tell;
    synchronized (this) {
      due = due.and(paths);
      tell = listener;
    }
    tell.run();
  }

  @Override
  public void ended() {
    due(); // The look opens another conversation.
  }
}
