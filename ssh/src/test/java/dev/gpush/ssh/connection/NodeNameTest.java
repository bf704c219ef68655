package dev.gpush.ssh.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.session.SessionName;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NodeNameTest {
  @ParameterizedTest
  @CsvSource({
    "devbox,     devbox,  0",
    "devbox-0,   devbox,  0",
    "devbox-1,   devbox,  1",
    "a-b-12,     a-b,    12",
    "x1,         x1,      0",
  })
  void readsNodeNames(String text, String session, int node) {
    assertEquals(Optional.of(new NodeName(new SessionName(session), node)), NodeName.parse(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "-1",
        "Devbox",
        "devbox-",
        "devbox-01",
        "devbox-1-2",
        "devbox-1234567",
        "a b",
        "devbox\n",
        "root@devbox",
      })
  void readsNothingElseAsANode(String text) {
    assertEquals(Optional.empty(), NodeName.parse(text));
  }

  @Test
  void readsItsOwnNodeNames() {
    var node = new NodeName(new SessionName("devbox"), 3);

    assertEquals(Optional.of(node), NodeName.parse(node.toString()));
  }
}
