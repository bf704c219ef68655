package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** ssh in a terminal, as a person has it. */
class TerminalTest {
  private static SshGatewayFixture rig;

  @BeforeAll
  static void starts() throws Exception {
    rig = new SshGatewayFixture();
  }

  @AfterAll
  static void ends() throws Exception {
    rig.close();
  }

  private static Command.Result person(List<Json.Obj> steps, String... ssh) throws Exception {
    return person(rig, steps, ssh);
  }

  /** ssh in a terminal of its own, typed into. */
  static Command.Result person(SshGatewayFixture rig, List<Json.Obj> steps, String... ssh)
      throws Exception {
    Path script = rig.folder().resolve("terminal.py");
    try (InputStream source = TerminalTest.class.getResourceAsStream("terminal.py")) {
      Files.copy(source, script, StandardCopyOption.REPLACE_EXISTING);
    }
    var words =
        new ArrayList<>(
            List.of("python3", script.toString(), Json.array(steps).write(), "ssh", "-F"));
    words.add(rig.home().resolve("ssh_config").toString());
    words.addAll(List.of(ssh));
    return new Command(words, rig.folder()).run();
  }

  private static Json.Obj expect(String text) {
    return Json.object("expect", text);
  }

  private static Json.Obj send(String text) {
    return Json.object("send", text);
  }

  @Test
  void hasASizeThatFollowsTheWindow() throws Exception {
    var result =
        person(
            List.of(expect("24 80"), Json.object("resize", List.of(132, 50)), expect("50 132")),
            "-tt",
            "devbox",
            "trap 'stty size; exit 0' WINCH; stty size; while :; do sleep 0.05; done");

    assertEquals(0, result.status(), result.text() + result.errors());
  }

  @Test
  void interruptsWithControlC() throws Exception {
    var result =
        person(
            List.of(expect("ready"), send("\u0003"), expect("interrupted")),
            "-tt",
            "devbox",
            "trap 'echo interrupted; exit 5' INT; echo ready; while :; do sleep 0.05; done");

    assertEquals(5, result.status(), result.text());
  }

  @Test
  void suspendsWithControlZAndGoesOn() throws Exception {
    var result =
        person(
            List.of(
                send("set -m; PS1='pro''mpt> '\n"),
                expect("prompt> "),
                send("sh -c 'echo rea\"\"dy; exec cat'\n"),
                expect("ready"),
                send("hello\n"),
                expect("hello\r\nhello"),
                send("\u001a"),
                expect("prompt> "),
                send("fg\n"),
                expect("exec cat'\r\n"),
                send("again\n"),
                expect("again\r\nagain"),
                send("\u0003"),
                expect("prompt> "),
                send("exit 4\n")),
            "-tt",
            "devbox",
            "exec bash --norc --noprofile --noediting -i");

    assertEquals(4, result.status(), result.text());
  }

  @Test
  void carriesLettersOfAllKinds() throws Exception {
    var result =
        person(
            List.of(send("grüße 你好 🚀\n"), expect("<grüße 你好 🚀>"), send("")),
            "-tt",
            "devbox",
            "stty -echo; read -r line; echo \"<$line>\"");

    assertEquals(0, result.status(), result.text());
  }

  @Test
  void startsInTheWorkspace() throws Exception {
    var result =
        person(
            List.of(send("echo \"in <$PWD> on $TERM\"; exit 6\n"), expect("work space> on ")),
            "-tt",
            "devbox");

    assertEquals(6, result.status(), result.text());
  }

  @Test
  void hangsUpWhenTheClientDies() throws Exception {
    Path pipe = rig.folder().resolve("fifo");
    new Command(List.of("mkfifo", pipe.toString()), rig.folder()).run();

    person(
        List.of(expect("ready"), Json.object("signal", "KILL")),
        "-tt",
        "devbox",
        "trap 'echo hung up > \""
            + pipe
            + "\"' HUP; echo ready; while :; do sleep 0.05; done & wait");

    // The terminal's own signal, and the agent's: a shell that is quick hears both.
    String heard = Files.readString(pipe);
    assertTrue(heard.matches("(hung up\n){1,2}"), heard);
  }

  @Test
  void endsLinesForATerminalInItsOwnMessages() throws Exception {
    var result = person(List.of(), "-tt", "devbox-1");

    assertEquals(255, result.status());
    assertTrue(
        result.text().contains("gpush: node 1 of devbox cannot be reached\r\n"), result.text());
  }
}
