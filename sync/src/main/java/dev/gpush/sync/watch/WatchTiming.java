package dev.gpush.sync.watch;

import java.time.Duration;

/**
 * The waits of a watch.
 *
 * @param quiet after a change, before it is looked at: an editor's save is several changes
 * @param many this many changes are a burst: a checkout, a formatter, an unpacked archive
 * @param burstQuiet after a change of a burst
 * @param longest a burst is looked at after this in any case
 * @param open a file that stays open is looked at this long after it was written to
 * @param gitStill git, of which nothing has moved for this long, is not waited for
 * @param gitLongest git at work is not waited for longer than this
 * @param scan between two looks at everything where changes are not reported
 * @param check the same where they are, to be safe; then it is some folders at a time
 */
public record WatchTiming(
    Duration quiet,
    int many,
    Duration burstQuiet,
    Duration longest,
    Duration open,
    Duration gitStill,
    Duration gitLongest,
    Duration scan,
    Duration check) {
  public static WatchTiming usual() {
    return new WatchTiming(
        Duration.ofMillis(5),
        64,
        Duration.ofMillis(100),
        Duration.ofSeconds(2),
        Duration.ofMillis(100),
        Duration.ofSeconds(2),
        Duration.ofSeconds(30),
        Duration.ofSeconds(2),
        Duration.ofMinutes(1));
  }
}
