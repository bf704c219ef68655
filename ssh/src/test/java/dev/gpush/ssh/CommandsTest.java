package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Commands and shells without a terminal, by the ssh of this machine. */
class CommandsTest {
  private static SshGatewayFixture rig;

  @BeforeAll
  static void starts() throws Exception {
    rig = new SshGatewayFixture();
  }

  @AfterAll
  static void ends() throws Exception {
    rig.close();
  }

  private static byte[] random(int size) {
    var bytes = new byte[size];
    new Random(11).nextBytes(bytes);
    return bytes;
  }

  @Test
  void keepsOutputAndErrorsApartAndGivesTheStatus() throws Exception {
    var result = rig.ssh("devbox", "echo o; echo e >&2; exit 7").run();

    assertEquals(new TextResult(7, "o\n", "e\n"), TextResult.of(result));
  }

  @Test
  void tellsTheSignalThatEndedACommand() throws Exception {
    var result = rig.ssh("-v", "devbox", "kill -TERM $$").run();

    assertEquals(255, result.status());
    assertTrue(result.errors().contains("rtype exit-signal"), result.errors());
  }

  @Test
  void runsAShellWithItsScriptOnStdin() throws Exception {
    var result = rig.ssh("-T", "devbox").input("echo hi; exit 3").run();

    assertEquals(new TextResult(3, "hi\n", ""), TextResult.of(result));
  }

  @Test
  void endsStdinWhenTheClientDoes() throws Exception {
    var result = rig.ssh("devbox", "cat; echo eof").input("text\n").run();

    assertEquals(new TextResult(0, "text\neof\n", ""), TextResult.of(result));
  }

  @Test
  void returnsTwentyMegabytesAsTheyWere() throws Exception {
    byte[] bytes = random(20 << 20);

    var result = rig.ssh("devbox", "cat").input(bytes).run();

    assertArrayEquals(bytes, result.bytes());
    assertEquals(0, result.status());
  }

  @Test
  void changesKeysEveryMegabyte() throws Exception {
    byte[] bytes = random(3 << 20);

    var result = rig.ssh("-v", "-o", "RekeyLimit=1M", "devbox", "cat").input(bytes).run();

    assertArrayEquals(bytes, result.bytes());
    long exchanges = result.errors().lines().filter(line -> line.contains("rekey in")).count();
    assertTrue(exchanges > 3, "rekeyed only " + exchanges + " times");
  }

  @Test
  void compressesWhenTheClientWantsIt() throws Exception {
    var result = rig.ssh("-C", "devbox", "cat").input("a".repeat(1 << 20)).run();

    assertEquals("a".repeat(1 << 20), result.text());
  }

  @Test
  void takesACommandOfAHundredKilobytes() throws Exception {
    String text = "x".repeat(100_000);

    var result = rig.ssh("devbox", "printf %s '" + text + "'").run();

    assertEquals(new TextResult(0, text, ""), TextResult.of(result));
  }

  @Test
  void splitsNothingThatWasQuoted() throws Exception {
    var result = rig.ssh("devbox", "printf '<%s>' \"a  b\" 'c\"d' \\$x").run();

    assertEquals("<a  b><c\"d><$x>", result.text());
  }

  @Test
  void endsACommandWhoseReaderIsGone() throws Exception {
    var result = rig.ssh("devbox", "yes").inShell("\"$@\" | head -1").run();

    assertEquals("y\n", result.text());
  }

  @Test
  void doesNotWaitForWhatWasLeftInTheBackground() throws Exception {
    var result = rig.ssh("devbox", "nohup sleep 300 >/dev/null 2>&1 </dev/null & echo $!").run();

    var sleeper = ProcessHandle.of(Long.parseLong(result.text().strip())).orElseThrow();
    assertTrue(sleeper.isAlive());
    sleeper.destroyForcibly();
  }

  @Test
  void setsTheVariablesOfSessionAndConnectionAndSomeOfTheClient() throws Exception {
    var result =
        rig.ssh(
                "-o",
                "SetEnv=LC_TEST=yes LC_CTYPE=UTF-8 LD_TEST=no COLORTERM=24bit",
                "devbox",
                "echo $GPUSH_TEST $LC_TEST $LC_CTYPE ${LD_TEST-unset} $COLORTERM"
                    + " ${SSH_CONNECTION% *}")
            .run();

    var words = result.text().strip().split(" ");
    assertEquals("yes", words[0]);
    assertEquals("yes", words[1]);
    assertEquals("C.UTF-8", words[2], "the value of a Mac's terminal, as Linux has it");
    assertEquals("unset", words[3]);
    assertEquals("24bit", words[4]);
    assertEquals("127.0.0.1", words[5]);
  }

  @Test
  void waitsWhileTheLinkIsCut() throws Exception {
    Process cat = rig.ssh("devbox", "cat").start();
    try (OutputStream input = cat.getOutputStream();
        InputStream output = cat.getInputStream()) {
      say(input, "before\n");
      assertEquals("before\n", hear(output, 7));
      rig.node().cut();

      say(input, "after\n");

      assertEquals("after\n", hear(output, 6));
    }
    assertEquals(0, cat.waitFor());
  }

  @Test
  @Tag("ssh-contract")
  void holdsBackWhatNobodyReads() throws Exception {
    int size = 60_000_000;
    Process slow = rig.ssh("devbox", "head -c " + size + " /dev/zero").start();
    try (InputStream output = slow.getInputStream()) {
      assertEquals(0, output.read());

      var other = rig.ssh("devbox", "echo not in the way").run();

      assertEquals("not in the way\n", other.text());
      assertEquals(size - 1, output.transferTo(OutputStream.nullOutputStream()));
    }
    assertEquals(0, slow.waitFor());
  }

  @Test
  @Tag("ssh-contract")
  void survivesAClientThatIsStopped() throws Exception {
    int size = 60_000_000;
    Process client = rig.ssh("devbox", "head -c " + size + " /dev/zero").start();
    try (InputStream output = client.getInputStream()) {
      assertEquals(0, output.read());
      signal("STOP", client);
      rig.ssh("devbox", "true").run();
      signal("CONT", client);

      assertEquals(size - 1, output.transferTo(OutputStream.nullOutputStream()));
    }
    assertEquals(0, client.waitFor());
  }

  @Test
  void answersAClientThatAsksWhetherWeLive() throws Exception {
    var result =
        rig.ssh(
                "-vvv",
                "-o",
                "ServerAliveInterval=1",
                // The debug output tells the answer; patience for one that comes late.
                "-o",
                "ServerAliveCountMax=100",
                "devbox",
                "sleep 3; echo alive")
            .run();

    assertEquals("alive\n", result.text());
    assertTrue(
        result.errors().lines().anyMatch(line -> line.matches(".*receive packet: type 8[12]")),
        result::errors);
  }

  @Test
  void closesTheCommandsInputWhenTheClientDies() throws Exception {
    Path pipe = rig.folder().resolve("fifo");
    new Command(java.util.List.of("mkfifo", pipe.toString()), rig.folder()).run();
    Process client = rig.ssh("devbox", "echo ready; cat; echo over > '" + pipe + "'").start();
    assertEquals("ready\n", hear(client.getInputStream(), 6));

    client.destroyForcibly();

    assertEquals("over\n", Files.readString(pipe));
  }

  @Test
  void saysWhyANodeCannotBeUsed() throws Exception {
    var result = rig.ssh("devbox-1", "true").run();

    assertEquals(
        new TextResult(
            255,
            "",
            """
            gpush: node 1 of devbox cannot be reached
              because it has no link; the session is cut for 40 s
              try: gpush nodes -s devbox
            """),
        TextResult.of(result));
  }

  @Test
  void saysThatThereIsNoSuchSession() throws Exception {
    var result = rig.ssh("-l", "nobody", "devbox", "true").run();

    assertEquals(255, result.status());
    assertEquals(
        """
        gpush: there is no session 'nobody'; did you mean devbox?
          because you have devbox
          try: ssh devbox
        """,
        result.errors());
  }

  @Test
  void runsManySessionsOverOneConnection() throws Exception {
    Path control = rig.folder().resolve("c");
    Process master = rig.ssh("-M", "-S", control.toString(), "devbox", "echo ready; cat").start();
    assertEquals("ready\n", hear(master.getInputStream(), 6));
    int count = 30;
    var clients = new Process[count];

    for (int i = 0; i < count; i++) {
      clients[i] =
          rig.ssh("-S", control.toString(), "devbox", "cat; echo e >&2; exit " + i).start();
    }
    for (int i = 0; i < count; i++) {
      try (OutputStream input = clients[i].getOutputStream()) {
        say(input, "client " + i);
      }
    }

    for (int i = 0; i < count; i++) {
      assertEquals("client " + i, all(clients[i].getInputStream()));
      assertEquals(i, clients[i].waitFor());
    }
    master.getOutputStream().close();
    assertEquals(0, master.waitFor());
  }

  private static void say(OutputStream to, String text) throws IOException {
    to.write(text.getBytes(StandardCharsets.UTF_8));
    to.flush();
  }

  private static String hear(InputStream from, int size) throws IOException {
    return new String(from.readNBytes(size), StandardCharsets.UTF_8);
  }

  private static String all(InputStream from) throws IOException {
    try (var reader = new BufferedReader(new InputStreamReader(from, StandardCharsets.UTF_8))) {
      return reader.readAllAsString();
    }
  }

  private static void signal(String name, Process process) throws Exception {
    new Command(java.util.List.of("kill", "-" + name, String.valueOf(process.pid())), rig.folder())
        .run();
  }

  private record TextResult(int status, String output, String errors) {
    static TextResult of(Command.Result result) {
      return new TextResult(result.status(), result.text(), result.errors());
    }
  }
}
