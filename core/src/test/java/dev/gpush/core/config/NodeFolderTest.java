package dev.gpush.core.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.config.NodeFolder.Variables;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class NodeFolderTest {
  @ParameterizedTest
  @CsvSource({
    "/scratch/$USER/runs, /scratch/me/runs",
    "/scratch/${USER}/runs, /scratch/me/runs",
    "/s/$USER-${USER}x, /s/me-mex",
    "~/runs, /home/$me/runs",
    "~, /home/$me",
    "$HOME, /home/$me",
    "${HOME}/a b, /home/$me/a b",
    "/plain/$, /plain/$",
    "/of~/it, /of~/it",
  })
  void isReplacedByWhatTheNodeSays(String text, String path) {
    assertEquals(path, new NodeFolder(text).at("/home/$me", "me"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "runs",
        "./runs",
        "",
        "~ann/runs",
        "$USER/runs",
        "$HOMES/runs",
        "$HOME-runs",
        "pvc/shared",
        "/s/{user}",
        "/s/{run}",
        "/s/${USER",
        "/s/$SCRATCH",
        "/s/$USERS",
        "$SCRATCH/runs",
        "/a\nb"
      })
  void refusesWhatIsNoWholePathOnTheNode(String text) {
    assertThrows(IllegalArgumentException.class, () -> new NodeFolder(text));
  }

  @Test
  void theNodesOwnVariablesMayBeginAPath() {
    assertEquals(Optional.empty(), NodeFolder.flaw("$SCRATCH/runs", Variables.ALL));
    assertEquals(Optional.empty(), NodeFolder.flaw("/s/$PROJECT/x", Variables.ALL));
    assertTrue(NodeFolder.flaw("runs", Variables.ALL).isPresent());
    assertTrue(NodeFolder.flaw("/s/{user}", Variables.ALL).isPresent());
    assertTrue(NodeFolder.flaw("$USER/runs", Variables.ALL).isPresent());
  }

  @Test
  void isPlainWhereNothingIsReplaced() {
    assertTrue(new NodeFolder("/results").isPlain());
    assertFalse(new NodeFolder("~/results").isPlain());
    assertFalse(new NodeFolder("/results/$USER").isPlain());
  }
}
