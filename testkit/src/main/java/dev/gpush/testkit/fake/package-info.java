/**
 * Stand-ins that pass the contracts: {@code FakeBackend} over a {@code FakeSite}, and {@code
 * ManualClock}. Thread-safe.
 */
@NullMarked
package dev.gpush.testkit.fake;

import org.jspecify.annotations.NullMarked;
