package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code permitopen} and {@code permitlisten}, with gpush and with OpenSSH's own server. */
@Tag("ssh-contract")
class PlacesOfKeysTest {
  private static Rig rig;
  private static Sshd sshd;
  private static KeyRing keys;
  private static Path key;

  /** Nothing listens on it; another one is never asked for by any case. */
  private static String port;

  @BeforeAll
  static void starts() throws Exception {
    rig = new Rig();
    keys = new KeyRing(rig);
    key = keys.key("ann");
    port = String.valueOf(ForwardingTest.freePort());
    sshd = Sshd.start(rig.folder().resolve("sshd"));
  }

  @AfterAll
  static void ends() throws Exception {
    try (var _ = rig) {
      if (sshd != null) {
        sshd.close();
      }
    }
  }

  /** What a client is told. */
  private enum Answer {
    ALLOWED,
    PROHIBITED,
    NO_LOGIN;

    static Answer of(Command.Result result) {
      if (result.errors().contains("Permission denied (publickey")) {
        return NO_LOGIN;
      }
      boolean isRefused =
          result.errors().contains("administratively prohibited")
              || result.errors().contains("remote port forwarding failed");
      return isRefused ? PROHIBITED : ALLOWED;
    }
  }

  private static Command.Result withGpush(String options, List<String> request) throws Exception {
    keys.authorize(options + " " + KeyRing.line(key));
    var words = new ArrayList<>(request);
    words.addAll(List.of("127.0.0.1", "true"));
    return keys.ssh(key, words.toArray(String[]::new)).run();
  }

  private static Command.Result withSshd(String options, List<String> request) throws Exception {
    Path authorized = rig.folder().resolve("sshd/id.pub");
    String line = Files.readString(authorized).strip();
    String plain = line.substring(line.indexOf("ssh-ed25519"));
    Files.writeString(authorized, options + " " + plain + "\n");
    var words = new ArrayList<>(request);
    words.addAll(List.of("-o", "LogLevel=INFO", "devbox", "true"));
    return sshd.client("ssh", words.toArray(String[]::new)).run();
  }

  private static void assertAnswer(Answer answer, String options, List<String> request)
      throws Exception {
    assertEquals(answer, Answer.of(withSshd(options, request)), "sshd: " + options + request);
    assertEquals(answer, Answer.of(withGpush(options, request)), "gpush: " + options + request);
  }

  private static String filled(String text) {
    return text.replace("PORT", port).replace('\'', '"');
  }

  /** A connection that is allowed fails otherwise, because nothing listens there. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = ';',
      value = {
        "permitopen='127.0.0.1:PORT'; 127.0.0.1:PORT; ALLOWED",
        "permitopen='127.0.0.1:PORT'; localhost:PORT; PROHIBITED",
        "permitopen='127.0.0.1:PORT'; 127.0.0.1:1; PROHIBITED",
        "permitopen='127.0.0.1:1',permitopen='localhost:PORT'; localhost:PORT; ALLOWED",
        "permitopen='localhost/PORT'; localhost:PORT; ALLOWED",
        "permitopen='LOCALHOST:PORT'; localhost:PORT; PROHIBITED",
        "permitopen='127.0.0.?:PORT'; 127.0.0.1:PORT; PROHIBITED",
        "permitopen='localhost:*'; localhost:PORT; ALLOWED",
        "permitopen='*:PORT'; localhost:PORT; ALLOWED",
        "permitopen='[::1]:PORT'; [::1]:PORT; ALLOWED",
        "permitopen='[::1]:PORT'; [::2]:PORT; PROHIBITED",
        "permitlisten='1'; localhost:PORT; ALLOWED",
        "restrict,permitopen='localhost:PORT'; localhost:PORT; PROHIBITED",
        "restrict,permitopen='localhost:PORT',port-forwarding; localhost:PORT; ALLOWED",
        "permitopen='localhost'; localhost:PORT; NO_LOGIN",
        "permitopen='PORT'; localhost:PORT; NO_LOGIN",
        "permitopen='localhost:0'; localhost:PORT; NO_LOGIN",
        "permitopen='localhost:70000'; localhost:PORT; NO_LOGIN",
        "permitopen='::1:PORT'; localhost:PORT; NO_LOGIN",
        "permitopen='[::1:PORT'; localhost:PORT; NO_LOGIN",
        "permitopen=localhost:PORT; localhost:PORT; NO_LOGIN",
        "permitlisten='localhost:'; localhost:PORT; NO_LOGIN",
      })
  void connectsWhereSshdConnects(String options, String target, Answer answer) throws Exception {
    assertAnswer(answer, filled(options), List.of("-W", filled(target)));
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = ';',
      value = {
        "permitlisten='PORT'; PORT; ALLOWED",
        "permitlisten='PORT'; 127.0.0.1:PORT; ALLOWED",
        "permitlisten='PORT'; 0; PROHIBITED",
        "permitlisten='localhost:PORT'; PORT; ALLOWED",
        "permitlisten='localhost:PORT'; LocalHost:PORT; ALLOWED",
        "permitlisten='localhost:PORT'; 127.0.0.1:PORT; PROHIBITED",
        "permitlisten='LOCALHOST:PORT'; localhost:PORT; PROHIBITED",
        "permitlisten='local????:*'; 0; ALLOWED",
        "permitlisten='127.*:*'; 127.0.0.1:PORT; ALLOWED",
        "permitlisten='127.*:*'; localhost:PORT; PROHIBITED",
        "permitlisten='*'; PORT; ALLOWED",
        "permitopen='localhost:1'; PORT; ALLOWED",
        "restrict,permitlisten='PORT'; PORT; PROHIBITED",
      })
  void listensWhereSshdListens(String options, String place, Answer answer) throws Exception {
    String spec = filled(place) + ":127.0.0.1:1";

    assertAnswer(answer, filled(options), List.of("-o", "ExitOnForwardFailure=yes", "-R", spec));
  }

  @Test
  void whatIsForbiddenIsSaid() throws Exception {
    String options = "permitopen=\"localhost:80\",permitopen=\"[::1]:*\",permitlisten=\"8080\"";

    assertTrue(
        withGpush(options, List.of("-W", "127.0.0.1:22"))
            .errors()
            .contains(
                "administratively prohibited: your key may not connect to 127.0.0.1:22; its"
                    + " permitopen is localhost:80, [::1]:*"));
    assertTrue(
        withGpush(options, List.of("-v", "-R", port + ":127.0.0.1:1"))
            .errors()
            .contains(
                "Remote: your key may not listen on localhost:"
                    + port
                    + "; its permitlisten is *:8080"));
  }

  /** Places are ports, and a socket may lead around them; sshd lets such a key make sockets. */
  @Test
  void aKeyWithPlacesReachesNoSocket() throws Exception {
    Path socket = rig.folder().resolve("socket");
    int free = ForwardingTest.freePort();
    Command.Result listening =
        withGpush(
            "permitlisten=\"*\"",
            List.of("-v", "-o", "ExitOnForwardFailure=yes", "-R", socket + ":127.0.0.1:1"));
    assertTrue(
        listening.errors().contains("Remote: your key may not listen on " + socket),
        listening.errors());
    keys.authorize("permitopen=\"*:*\" " + KeyRing.line(key));
    Process forwarding =
        new ProcessBuilder(
                keys.words(key, "-L", free + ":" + socket, "127.0.0.1", "echo ready; cat"))
            .start();
    assertEquals('r', forwarding.getInputStream().read());

    try (var connection = new Socket(InetAddress.getLoopbackAddress(), free)) {
      assertEquals(-1, connection.getInputStream().read());
    }

    forwarding.getOutputStream().close();
    forwarding.waitFor();
    String errors = new String(forwarding.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(
        errors.contains("administratively prohibited: your key may not connect to " + socket),
        errors);
  }
}
