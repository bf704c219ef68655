package dev.gpush.backends.hosts.local;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.Gang;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.testkit.contract.BackendContract;
import java.io.DataInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The way to a local agent's own socket. */
final class AgentPipeTest {
  private static final int HELLO = 1;
  private static final int WELCOME = 2;
  private static final int HEADER = 20;

  @TempDir private Path folder;

  @Test
  void theAgentItselfAnswers() throws Exception {
    try (LocalPlace place = LocalPlace.of(folder.resolve("home"), folder.resolve("machine"))) {
      Gang gang = place.backend().reserve(place.request(1, "0", BackendContract.LONG));
      try (Pipe pipe = open(place, gang).orElseThrow()) {
        Json.Obj hello =
            Json.object("version", 2, "holder", "me", "incarnation", "0".repeat(32), "term", 1);
        byte[] text = hello.write().getBytes(StandardCharsets.UTF_8);
        ByteBuffer frame = ByteBuffer.allocate(HEADER + text.length);
        frame.putInt(text.length).put((byte) HELLO).position(HEADER).put(text);
        pipe.input().write(frame.array());

        var answer = new DataInputStream(pipe.output());
        answer.readInt();
        assertEquals(WELCOME, answer.readByte());
      }
      place.backend().release(gang, BackendContract.LIMIT);
      assertEquals(Optional.empty(), open(place, gang));
    }
  }

  private static Optional<Pipe> open(LocalPlace place, Gang gang) throws IOException {
    return place.backend().capabilities().agentPipes().orElseThrow().openAgentPipe(gang, 0);
  }

  @Test
  void aFolderThatOthersCanUseIsNotTrusted() throws Exception {
    try (LocalPlace place = LocalPlace.of(folder.resolve("home"), folder.resolve("machine"))) {
      Gang gang = place.backend().reserve(place.request(1, "0", BackendContract.LONG));
      Path agent = NodeSocket.of(gang.id(), 0).folder().orElseThrow();

      Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
      assertEquals(Optional.empty(), open(place, gang));

      Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwx------"));
      open(place, gang).orElseThrow().close();
      place.backend().release(gang, BackendContract.LIMIT);
    }
  }
}
