package dev.gpush.core.gang;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class AgentFolderTest {
  /** As the launcher, which keeps its own beside it. */
  @Test
  void whatIsCompiledIsInTheCacheOfTheUser() {
    assertEquals(Optional.of("/me/.cache/gpush/agent"), folder(Map.of("HOME", "/me")));
    assertEquals(
        Optional.of("/fast/gpush/agent"), folder(Map.of("HOME", "/me", "XDG_CACHE_HOME", "/fast")));
    assertEquals(Optional.empty(), folder(Map.of()));
    assertEquals(Optional.empty(), folder(Map.of("XDG_CACHE_HOME", "relative")));
  }

  private static Optional<String> folder(Map<String, String> environment) {
    return AgentFolder.keepingCompiled(Json.object("mode", "start"), environment).text("compiled");
  }
}
