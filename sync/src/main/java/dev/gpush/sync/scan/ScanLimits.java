package dev.gpush.sync.scan;

import dev.gpush.core.text.Phrase;

/**
 * Above these limits the user is asked before anything is sent (product.md, "Which folder" and
 * "What is sent").
 *
 * @param files of the whole workspace
 * @param bytes of the whole workspace
 * @param askOver bytes of a single file that git does not track
 */
public record ScanLimits(long files, long bytes, long askOver) {
  public static ScanLimits standard() {
    return new ScanLimits(20_000, 1_000_000_000, 50_000_000);
  }

  /** Why a file is asked about. */
  public String largeText() {
    return "over " + Phrase.size(askOver) + " and not in git";
  }

  public ScanLimits askOver(long other) {
    return new ScanLimits(files, bytes, other);
  }
}
