package dev.gpush.gateway.session.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import org.junit.jupiter.api.Test;

final class SessionEndingsTest {
  @Test
  void whyAPlaceCannotBeAskedIsInWords() {
    assertEquals(
        "cannot find the host hpc: no such name",
        SessionEndings.why(
            new GpushException(new MachineFailure.UnknownHost("hpc", "no such name"))));
  }
}
