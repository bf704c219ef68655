package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the gateway's log has of connections, with OpenSSH's client. */
class ConnectionLogTest {
  private final Logger logger = Logger.getLogger("gpush.ssh");
  private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final Handler handler =
      new Handler() {
        @Override
        public void publish(LogRecord record) {
          lines.add(record.getMessage());
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
      };
  private SshGatewayFixture rig;

  @BeforeEach
  void starts() throws Exception {
    logger.setLevel(Level.FINE);
    logger.addHandler(handler);
    rig = new SshGatewayFixture();
  }

  @AfterEach
  void ends() throws Exception {
    rig.close();
    logger.removeHandler(handler);
    logger.setLevel(null);
  }

  /** The next line with this; other tests beside this one write lines, too. */
  private String lineWith(String part) throws InterruptedException {
    String line = lines.take();
    while (!line.contains(part)) {
      line = lines.take();
    }
    return line;
  }

  /** No other test calls the node by this name. */
  @Test
  void hasEachLoginAndItsChannelsWithoutWhatWasInThem() throws Exception {
    assertEquals("secret\n", rig.ssh("-o", "User=devbox-0", "devbox", "echo secret").run().text());

    Matcher login =
        Pattern.compile(
                "connected (connection=\\d+ )from=127\\.0\\.0\\.1:\\d+ client=SSH-2\\.0-OpenSSH.*")
            .matcher(lineWith(" node=devbox-0"));
    assertTrue(login.matches(), login::toString);
    assertEquals(
        "channel " + login.group(1) + "channel=0 kind=exec terminal=false",
        lineWith(login.group(1)));
    assertTrue(lineWith(login.group(1)).startsWith("ended "));
  }

  @Test
  void namesTheKeyThatWasRefused() throws Exception {
    Path key = rig.folder().resolve("other");
    new Command(
            List.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key.toString()),
            rig.folder())
        .run();
    String shown =
        new Command(List.of("ssh-keygen", "-l", "-f", key.toString()), rig.folder()).run().text();

    var refused =
        new Command(
                List.of(
                    "ssh",
                    "-F",
                    "none",
                    "-i",
                    key.toString(),
                    "-o",
                    "IdentitiesOnly=yes",
                    "-o",
                    "BatchMode=yes",
                    "-o",
                    "StrictHostKeyChecking=no",
                    "-o",
                    "UserKnownHostsFile=/dev/null",
                    "-p",
                    String.valueOf(rig.gateway().port()),
                    "devbox@127.0.0.1"),
                rig.folder())
            .run();

    assertEquals(255, refused.status());
    String line = lineWith(shown.split(" ", -1)[1]);
    assertTrue(line.startsWith("refused ") && line.contains(" node=devbox key="), line);
  }
}
