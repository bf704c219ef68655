package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.talk.Streams;
import dev.gpush.core.talk.Talk;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** {@code gpush exec} with the streams of a client. */
@Execution(ExecutionMode.CONCURRENT)
final class ExecTest {
  private SessionRig rig;

  @BeforeEach
  void begin() throws IOException {
    rig = SessionRig.calm();
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  /** A client whose standard error has lost its reader, as in {@code 2>&1 >file | head -3}. */
  private record Unheard(ByteArrayOutputStream out) implements Streams {
    @Override
    public InputStream in() {
      return InputStream.nullInputStream();
    }

    @Override
    public OutputStream err() {
      return new OutputStream() {
        @Override
        public void write(int value) throws IOException {
          throw new IOException("broken pipe");
        }
      };
    }

    @Override
    public void onSignal(Consumer<String> listener) {}
  }

  @Test
  void aCommandWhoseErrorsAreNotReadGoesOn() throws Exception {
    GatewaySessions gateway = rig.gateway();
    gateway.up(ask(rig.project("project"), 1), Talk.silent());
    var client = new Unheard(new ByteArrayOutputStream());
    var words = List.of("head -c 1000000 /dev/zero >&2; echo done; exit 3");

    var exec =
        rig.tasks()
            .fork("exec", () -> gateway.runs().exec(DEVBOX, 0, words, false, Map.of(), client));

    assertEquals(3, exec.get(SessionRig.DEADLINE));
    assertEquals("done\n", client.out().toString(StandardCharsets.UTF_8));
  }
}
