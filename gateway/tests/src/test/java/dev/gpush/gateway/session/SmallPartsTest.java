package dev.gpush.gateway.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Streams;
import dev.gpush.core.text.Nearest;
import dev.gpush.gateway.session.lifecycle.SessionEndings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SmallPartsTest {
  @ParameterizedTest
  @CsvSource({
    "devbx, devbox",
    "dev, devbox",
    "devbox22, devbox2",
    "train, train",
    "trin, train",
    "x, -",
    "completely-else, -",
    "'', -",
  })
  void theNearestNameIsFound(String word, String nearest) {
    assertEquals(
        nearest, Nearest.one(word, List.of("train", "devbox2", "devbox")).orElse("-"), word);
  }

  @ParameterizedTest
  @CsvSource({"HUP, 129", "INT, 130", "ILL, 132", "BUS, 135", "FPE, 136", "KILL, 137", "USR1, 138"})
  @CsvSource({"SEGV, 139", "USR2, 140", "PIPE, 141", "TERM, 143", "XCPU, 152", "SYS, 159"})
  void theStatusOfASignalIsThatOfShells(String signal, int status) {
    assertEquals(status, NodeCommand.signalStatus(signal));
  }

  @Test
  void nothingIsNearToNothing() {
    assertEquals(Optional.empty(), Nearest.one("devbox", List.of()));
  }

  private static Json.Obj request(List<String> words, Optional<Streams.Terminal> terminal) {
    return NodeCommand.request(words, "/w", Map.of("A", "b"), terminal, terminal.isPresent());
  }

  @Test
  void noWordsAreALoginShell() {
    Json.Obj request = request(List.of(), Optional.of(new Screen()));

    assertTrue(request.flag("login"));
    assertTrue(request.flag("stdin"));
    assertEquals(Optional.empty(), request.get("argv"));
    assertEquals("xterm", request.object("pty").text("term").orElse(""));
    assertEquals(80L, request.object("pty").number("columns").orElse(0L));
  }

  @Test
  void oneWordWithSpacesIsAShellLine() {
    assertEquals(
        List.of("/bin/sh", "-c", "ls | wc -l"),
        request(List.of("ls | wc -l"), Optional.empty()).texts("argv"));
  }

  @Test
  void severalWordsAreExecutedAsTheyAre() {
    Json.Obj request = request(List.of("printf", "%s", "a b; $HOME"), Optional.empty());

    assertEquals(List.of("printf", "%s", "a b; $HOME"), request.texts("argv"));
    assertEquals("/w", request.text("cwd").orElse(""));
    assertEquals("b", request.object("env").text("A").orElse(""));
    assertTrue(request.flag("kill_on_close"));
    assertFalse(request.flag("stdin"));
    assertEquals(Optional.empty(), request.get("pty"));
  }

  @Test
  void oneWordWithoutSpacesIsACommand() {
    assertEquals(List.of("ls"), request(List.of("ls"), Optional.empty()).texts("argv"));
  }

  @Test
  void whatCannotBeStartedHasTheShellsStatus() {
    assertEquals(Optional.of(127), status("not-found"));
    assertEquals(Optional.of(126), status("denied"));
    assertEquals(Optional.empty(), status("limit"));
  }

  @Test
  void whyAPlaceCannotBeAskedIsInWords() {
    assertEquals(
        "cannot find the host hpc: no such name",
        SessionEndings.why(
            new GpushException(new MachineFailure.UnknownHost("hpc", "no such name"))));
  }

  private static Optional<Integer> status(String code) {
    return NodeCommand.shellStatus(
        new GpushException(new AgentFailure.Refused("exec", code, Json.object())));
  }

  private static final class Screen implements Streams.Terminal {
    @Override
    public String type() {
      return "xterm";
    }

    @Override
    public int columns() {
      return 80;
    }

    @Override
    public int rows() {
      return 24;
    }

    @Override
    public AutoCloseable raw() {
      return () -> {};
    }
  }
}
