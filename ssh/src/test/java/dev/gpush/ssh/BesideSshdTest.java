package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same client and the same words, with gpush and with OpenSSH's own server beside it. */
@Tag("ssh-contract")
class BesideSshdTest {
  private static SshGatewayFixture rig;
  private static Sshd sshd;

  @BeforeAll
  static void starts() throws Exception {
    rig = new SshGatewayFixture();
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

  /** What can be seen of a command from outside. */
  private record Seen(int status, String output, String errors) {
    static Seen of(Command.Result result) {
      return new Seen(
          result.status(), HexFormat.of().formatHex(result.bytes()), result.errors().strip());
    }
  }

  private static Seen withSshd(String shellLine) throws Exception {
    return Seen.of(sshd.client("ssh", "devbox").inShell(shellLine).run());
  }

  private static Seen withGpush(String shellLine) throws Exception {
    return Seen.of(rig.ssh("devbox").inShell(shellLine).run());
  }

  private static String hex(String text) {
    return HexFormat.of().formatHex(text.getBytes(StandardCharsets.UTF_8));
  }

  // ---- issue 14, line 19: output of what a command leaves in the background

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(sleep 0.4; echo late) & echo hi",
        "(sleep 0.4; echo late >&2) & echo hi; exit 7",
        "bash -c 'exec > >(sleep 0.4; cat); echo through'",
        "(sleep 0.4; echo late; echo status $? >&2) & kill -KILL $$",
        "(sleep 0.4; echo late; sleep 0.2; echo later) 2>/dev/null & exit 3",
        "exec 3<&0; (cat <&3; echo end) & exit 4",
        "(sleep 100 </dev/null >/dev/null 2>&1 & echo $! >/dev/null; kill $!); echo at once",
        "(trap 'echo pipe >&2' PIPE; sleep 0.4; seq 100000 | tail -1) & :",
      })
  void outputOfWhatIsLeftInTheBackgroundComesAsWithSshd(String command) throws Exception {
    String line = "\"$@\" '" + command.replace("'", "'\\''") + "' < /dev/null";

    assertEquals(withSshd(line), withGpush(line));
  }

  @Test
  void outputThatComesAfterTheShellHasEndedIsNotLost() throws Exception {
    assertEquals(
        new Seen(0, hex("hi\nlate\n"), ""), withGpush("\"$@\" '(sleep 0.4; echo late) & echo hi'"));
    assertEquals(
        new Seen(0, hex("through\n"), ""),
        withGpush("\"$@\" \"bash -c 'exec > >(sleep 0.4; cat); echo through'\""));
  }

  /** The status first, and that input is of no use any more; the output of the rest after it. */
  @Test
  void theStatusComesWithTheEndOfTheShellAndNotWithTheLastWriter() throws Exception {
    assertEquals(List.of("late\n", "7"), statusBeforeOutput(sshd.client("ssh", "-vv", "devbox")));
    assertEquals(List.of("late\n", "7"), statusBeforeOutput(rig.client("ssh", "-vv", "devbox")));
  }

  private static List<String> statusBeforeOutput(Command client) throws Exception {
    Path gate = Files.createTempDirectory(rig.folder(), "g").resolve("gate");
    new Command(List.of("mkfifo", gate.toString()), rig.folder()).run();
    var words = new ArrayList<>(client.words());
    words.add("(read x < '" + gate + "'; echo late) & exit 7");
    Process process = new ProcessBuilder(words).start();
    String waited = awaitLines(process.errorReader(), "rtype exit-status", "rtype eow@openssh.com");
    assertTrue(process.isAlive(), waited);
    Files.writeString(gate, "\n");
    String output = all(process.getInputStream());
    return List.of(output, String.valueOf(process.waitFor()));
  }

  /** Reads until each of these was in a line. */
  private static String awaitLines(BufferedReader from, String... wanted) throws IOException {
    var missing = new ArrayList<>(List.of(wanted));
    var seen = new StringBuilder();
    while (!missing.isEmpty()) {
      String line = from.readLine();
      assertTrue(line != null, () -> "ended without " + missing + ":\n" + seen);
      seen.append(line).append('\n');
      missing.removeIf(line::contains);
    }
    return seen.toString();
  }

  private static String all(InputStream from) throws IOException {
    return new String(from.readAllBytes(), StandardCharsets.UTF_8);
  }

  /** A terminal ends with its shell, whatever still has it open. */
  @Test
  void aTerminalEndsWithItsShell() throws Exception {
    String line = "\"$@\" -tt \"trap '' HUP; sleep 300 & echo \\$!; exit 5\" </dev/null";

    for (Command client : List.of(sshd.client("ssh", "devbox"), rig.ssh("devbox"))) {
      var result = client.inShell(line).run();
      ProcessHandle.of(Long.parseLong(result.text().strip())).ifPresent(ProcessHandle::destroy);
      assertEquals(5, result.status(), client.words() + "\n" + result.errors());
    }
  }

  // ---- issue 14, line 21: signals

  /**
   * Compared with a fresh process, because an sshd that a JVM has started has 32 and 33 ignored.
   */
  @Test
  void noSignalIsIgnoredOrBlocked() throws Exception {
    String line = "\"$@\" \"grep -E 'Sig(Blk|Ign)' /proc/self/status\"";

    assertEquals(
        new Seen(0, hex("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"), ""),
        withGpush(line));
  }

  // ---- issue 14, line 20: bytes that are not UTF-8

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"$@\" $'printf %s caf\\xe9.txt'",
        "\"$@\" $'printf %s \\'\\xff\\xc3\\xa9\\x80 \\xed\\xb2\\x80\\''",
        "LC_TEST=$'caf\\xe9' \"$@\" 'printf %s \"$LC_TEST\"'",
        "LC_TEST=$'\\xf0\\x9f\\x98\\x80\\xff' \"$@\" 'printf %s \"$LC_TEST\"'",
      })
  void bytesOfCommandsAndVariablesStayBytes(String line) throws Exception {
    assertEquals(withSshd(line), withGpush(line));
  }

  @Test
  void aCommandTouchesTheFileThatItNames() throws Exception {
    Path folder = Files.createTempDirectory(rig.folder(), "raw");
    String touch = "\"$@\" $'cd \"" + folder + "\" && echo gpush > caf\\xe9.txt'";
    String list = "cd '" + folder + "' && printf '%s\\n' *.txt; cat $'caf\\xe9.txt'";

    assertEquals(0, withGpush(touch).status());

    var listed = new Command(List.of("true"), folder).inShell(list).run();
    assertEquals("636166e92e7478740a" + hex("gpush\n"), HexFormat.of().formatHex(listed.bytes()));
  }

  private static final String SERVER =
      "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(os.fsencode(sys.argv[1]));"
          + " s.listen(); print(flush=True); c = s.accept()[0]; c.sendall(b'through'); c.close()";

  private static final String CLIENT =
      "import os, socket, sys; s = socket.socket(socket.AF_UNIX);"
          + " s.connect(os.fsencode(sys.argv[1])); print(s.makefile().read())";

  private static String python(String program, String path) {
    return "python3 -c \"" + program + "\" " + path;
  }

  @Test
  void forwardedSocketsKeepTheBytesOfTheirNames() throws Exception {
    Path folder = Files.createTempDirectory(rig.folder(), "s");
    String here = "'" + folder + "/here'";
    String there = "'" + folder + "/'$'s\\xe9'";
    String serve = python(SERVER, "%s") + " > ready & ";
    String wait = "until [ -s ready ]; do sleep 0.02; done; ";
    String cd = "cd '" + folder + "' && rm -f ready here; ";

    String back = "\"$@\" -R " + there + ":" + here + " devbox " + shellWord(python(CLIENT, there));
    var returned = rig.ssh().inShell(cd + serve.formatted(here) + wait + back).run();

    assertEquals("through\n", returned.text(), returned.errors());

    String forward = "coproc \"$@\" -L " + here + ":" + there + " devbox 'echo ready; cat'; ";
    String use =
        "read line <&${COPROC[0]}; " + python(CLIENT, here) + "; exec {COPROC[1]}>&-; wait";
    var dialled = rig.ssh().inShell(cd + serve.formatted(there) + wait + forward + use).run();

    assertEquals("through\n", dialled.text(), dialled.errors());
  }

  private static String shellWord(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("$", "\\$") + "\"";
  }
}
