package dev.gpush.shell.top;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What has happened since the screen was drawn: of pictures only the newest, so that a terminal
 * that is slow shows what is now. Thread-safe.
 */
final class TopInbox {
  /** Who holds down a key while the terminal is stuck need not be obeyed later. */
  private static final int MOST_KEYS = 64;

  // guarded by this
  private final List<Keystroke> keys = new ArrayList<>();
  private Optional<TopPicture> picture = Optional.empty();
  private Optional<RuntimeException> failure = Optional.empty();
  private boolean isResized;
  private boolean isOver;

  /**
   * @param isOver there will be nothing more
   */
  record News(
      Optional<TopPicture> picture, List<Keystroke> keys, boolean isResized, boolean isOver) {}

  synchronized void picture(TopPicture newest) {
    picture = Optional.of(newest);
    notifyAll();
  }

  synchronized void keys(List<Keystroke> typed) {
    if (keys.size() < MOST_KEYS) {
      keys.addAll(typed);
      notifyAll();
    }
  }

  synchronized void resized() {
    isResized = true;
    notifyAll();
  }

  /** The user or the client wants the end. */
  synchronized void over() {
    isOver = true;
    notifyAll();
  }

  synchronized void failed(RuntimeException why) {
    failure = Optional.of(why);
    notifyAll();
  }

  /** Waits until there is something. */
  synchronized News await() throws InterruptedException {
    while (picture.isEmpty() && keys.isEmpty() && !isResized && !isOver && failure.isEmpty()) {
      wait();
    }
    if (failure.isPresent()) {
      throw failure.get();
    }
    var news = new News(picture, List.copyOf(keys), isResized, isOver);
    picture = Optional.empty();
    keys.clear();
    isResized = false;
    return news;
  }
}
