package dev.gpush.core.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.failure.GpushException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SessionNameTest {
  @ParameterizedTest
  @ValueSource(
      strings = {"devbox", "devbox2", "a", "my-box", "x1-y2z", "a234567890123456789012345678901b"})
  void acceptsWhatIsAlsoAHostAndUserName(String name) {
    assertEquals(name, SessionName.parse(name).text());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Devbox",
        "2box",
        "-x",
        "box-",
        "devbox-1",
        "box--12",
        "a_b",
        "a.b",
        "a:b",
        "a b",
        "ä",
        "a/b",
        "a23456789012345678901234567890123"
      })
  void refusesWithTheRule(String name) {
    var refused = assertThrows(GpushException.class, () -> SessionName.parse(name));

    assertEquals("usage.bad-value", refused.failure().code());
    assertEquals(ExitStatus.USAGE, refused.failure().exit());
  }
}
