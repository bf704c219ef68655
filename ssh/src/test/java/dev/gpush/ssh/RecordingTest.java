package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.ssh.recording.Cast;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Test 36 of the contract: a terminal through OpenSSH, and its recording. */
@Tag("local")
class RecordingTest {
  /** Text, colours, characters cut into single bytes, bytes that are no text, and 2 MB. */
  private static final String PROGRAM =
      """
      import os, sys
      out = sys.stdout.buffer.raw
      for byte in "plain \\x1b[31mred\\x1b[0m \\u20ac \\U0001f600 \\\\ \\" \\x07\\n".encode():
          out.write(bytes([byte]))
      out.write(bytes(range(256)) + b"\\xe2\\x82")
      out.write(b"\\xac cut between two writes\\n")
      for number in range(40000):
          out.write("{} \\u00e4\\u00f6\\u00fc and so on, and on, and on\\n".format(number).encode())
      """;

  private static Path recording(Rig rig) throws IOException {
    try (Stream<Path> files = Files.list(rig.home().resolve("logs/recordings"))) {
      return files.findFirst().orElseThrow();
    }
  }

  private static Cast cast(Path file) throws IOException {
    return Cast.parse(Files.readAllLines(file));
  }

  @Test
  void isWhatTheClientReceivedByteForByte() throws Exception {
    try (var rig = new Rig(Records.Terminals.RECORDED)) {
      Path program = rig.folder().resolve("program.py");
      Files.writeString(program, PROGRAM);

      var result = rig.ssh("-tt", "devbox", "python3 '" + program + "'").run();
      assertEquals(0, result.status(), result.errors());
      List<Json.Obj> records = rig.audit();

      assertTrue(result.bytes().length > 1_500_000, result.bytes().length + " bytes");
      Path file = recording(rig);
      assertArrayEquals(result.bytes(), cast(file).bytes());
      for (Json.Obj record : records) {
        if (record.text("kind").isPresent()) {
          assertEquals(file.getFileName().toString(), record.text("recording").orElseThrow());
        }
      }
      assertEquals("ann on devbox", cast(file).header().text("title").orElseThrow());
    }
  }

  @Test
  void hasNoSecretThatIsTypedWithoutEcho() throws Exception {
    try (var rig = new Rig(Records.Terminals.RECORDED)) {
      List<Json.Obj> steps =
          List.of(
              Json.object("send", "stty -echo; printf 'pass''word: '; read -r secret; stty echo\n"),
              Json.object("expect", "password: "),
              Json.object("send", "hunter2\n"),
              Json.object("send", "echo \"${#secret} characters\"; exit\n"),
              Json.object("expect", "7 characters"));

      var result = TerminalTest.person(rig, steps, "-tt", "devbox");
      rig.audit();

      Cast cast = cast(recording(rig));
      String shown = new String(cast.bytes(), StandardCharsets.UTF_8);
      assertEquals(0, result.status(), result.text() + result.errors());
      assertTrue(result.text().contains("gpush: what this terminal shows is recorded"), shown);
      assertTrue(shown.contains("7 characters"), shown);
      assertFalse(shown.contains("hunter2"), shown);
      assertFalse(cast.events().stream().anyMatch(event -> event.code().equals("i")));
    }
  }

  @Test
  void recordsNoCommandWithoutATerminal() throws Exception {
    try (var rig = new Rig(Records.Terminals.RECORDED)) {
      assertEquals("x\n", rig.ssh("devbox", "echo x").run().text());
      rig.audit();

      assertFalse(Files.exists(rig.home().resolve("logs/recordings")));
    }
  }
}
