package dev.gpush.ssh.socket;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

final class BehindTest {
  private final Behind behind = new Behind();

  @Test
  void beginsWithTooManyAndEndsWithHalf() {
    behind.added(Behind.MOST_WAITING);
    assertFalse(behind.is());
    behind.added(Behind.MOST_WAITING + 1);
    assertTrue(behind.is());

    assertFalse(behind.endedAt(Behind.MOST_WAITING / 2 + 1));
    assertTrue(behind.endedAt(Behind.MOST_WAITING / 2));

    assertFalse(behind.is());
    assertFalse(behind.endedAt(0), "nobody has to be woken twice");
  }

  /** Ended by a packet, it would leave the thread that reads asleep for ever. */
  @Test
  void aPacketBetweenTheTwoDoesNotEndIt() {
    behind.added(Behind.MOST_WAITING + 1);
    assertFalse(behind.endedAt(Behind.MOST_WAITING - 9));

    behind.added(Behind.MOST_WAITING - 8);

    assertTrue(behind.is());
    assertTrue(behind.endedAt(Behind.MOST_WAITING / 2), "the thread that reads is woken");
  }
}
