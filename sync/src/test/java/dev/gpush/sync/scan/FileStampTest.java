package dev.gpush.sync.scan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The racy-clean rule; newer kernels have stamps so fine that no test of files can meet it. */
class FileStampTest {
  private static final long SECOND = 1_000_000_000L;

  @ParameterizedTest
  @CsvSource({
    "5.0, 5.0, 6.0, false, whole seconds: two of them",
    "5.0, 5.0, 7.1, true, whole seconds",
    "5.000000001, 5.0, 5.01, false, fractions: two ticks",
    "5.000000001, 5.0, 5.06, true, fractions",
    "1.000000001, 5.000000001, 5.0, false, the inode's change counts as well",
    "9.000000001, 5.0, 6.0, false, a modification time in the future never settles",
  })
  void vouchesOnlyForWhatCameWellBefore(
      String modified, String changed, String at, boolean settled, String why) {
    var stamp = new FileStamp(1, nanos(modified), nanos(changed), 1);
    assertEquals(settled, stamp.isSettled(nanos(at)), why);
  }

  @ParameterizedTest
  @CsvSource({
    "19.0, 5.0, 8.0, true, a modification time in the future",
    "19.0, 5.0, 6.0, false, the inode's change may be this second's",
    "19.0, 19.0, 8.0, false, a server whose clock is ahead",
    "5.0, 9.0, 6.0, false, the inode's change alone",
    "5.0, 5.0, 8.0, false, the past",
  })
  void isAheadOnlyWhereALaterChangeMovesTheInodesTime(
      String modified, String changed, String at, boolean ahead, String why) {
    var stamp = new FileStamp(1, nanos(modified), nanos(changed), 1);
    assertEquals(ahead, stamp.isAhead(nanos(at)), why);
  }

  private static long nanos(String seconds) {
    return new java.math.BigDecimal(seconds)
        .multiply(java.math.BigDecimal.valueOf(SECOND))
        .longValueExact();
  }
}
