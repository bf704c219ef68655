package dev.gpush.gateway.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Streams;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class NodeCommandTest {
  @ParameterizedTest
  @CsvSource({"HUP, 129", "INT, 130", "ILL, 132", "BUS, 135", "FPE, 136", "KILL, 137", "USR1, 138"})
  @CsvSource({"SEGV, 139", "USR2, 140", "PIPE, 141", "TERM, 143", "XCPU, 152", "SYS, 159"})
  void theStatusOfASignalIsThatOfShells(String signal, int status) {
    assertEquals(status, NodeCommand.signalStatus(signal));
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
    public Streams.Raw raw() {
      return () -> {};
    }
  }
}
