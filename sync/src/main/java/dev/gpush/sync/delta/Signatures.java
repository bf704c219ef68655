package dev.gpush.sync.delta;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The signatures of contents that were sent, by SHA-256; those that were not used for the longest
 * time are forgotten. A file whose earlier content has none is sent whole. Thread-safe.
 */
public final class Signatures {
  /** Eight bytes each, so 2 MiB: those of about 64 MB of code. */
  static final int MOST_BLOCKS = 1 << 18;

  // guarded by this; the one that was used last is the last
  private final Map<String, Signature> all = new LinkedHashMap<>(16, 0.75f, true);
  private int blocks;

  public synchronized Optional<Signature> of(String hash) {
    return Optional.ofNullable(all.get(hash));
  }

  public synchronized void put(String hash, Signature signature) {
    boolean isUseful = signature.count() > 0 && signature.count() <= Signature.MOST_BLOCKS;
    if (!isUseful || all.putIfAbsent(hash, signature) != null) {
      return;
    }
    blocks += signature.count();
    Iterator<Signature> oldest = all.values().iterator();
    while (blocks > MOST_BLOCKS) {
      blocks -= oldest.next().count();
      oldest.remove();
    }
  }
}
