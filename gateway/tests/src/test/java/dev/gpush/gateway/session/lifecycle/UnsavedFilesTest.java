package dev.gpush.gateway.session.lifecycle;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.discarding;
import static dev.gpush.gateway.session.SessionRig.replacing;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.Ending;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.FakeTalk;
import dev.gpush.gateway.session.GatewaySessions;
import dev.gpush.gateway.session.SessionRig;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.testkit.fixture.Asked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * What exists only on nodes whose disks go with the gang is asked about on every path that gives a
 * session back, and {@code --yes} is no answer.
 */
@Execution(ExecutionMode.CONCURRENT)
final class UnsavedFilesTest {
  private SessionRig rig;
  private GatewaySessions gateway;
  private Path project;

  @BeforeEach
  void begin() throws IOException {
    rig = SessionRig.calm();
    gateway = gateway();
    project = rig.project("project");
  }

  @AfterEach
  void end() throws IOException {
    rig.close();
  }

  private GatewaySessions gateway() {
    return rig.gateway(List.of(rig.backend().onPassingDisks()), SessionRig.DEADLINE);
  }

  private SessionView up(UpRequest request, Talk talk) throws InterruptedException {
    return gateway.up(request, talk);
  }

  /** A session with a night's work on node 0. */
  private Path checkpoint(SessionView made) throws IOException {
    Path file = Path.of(made.nodes().getFirst().info().workspace()).resolve("ckpt.pt");
    return Files.writeString(file, "a night of work");
  }

  private static List<String> questions(FakeTalk talk) {
    return talk.lines().stream()
        .filter(line -> line.endsWith("?"))
        .map(line -> line.replaceAll("rank, [0-9dhms]+\\)", "rank, AGE)"))
        .toList();
  }

  private interface Command {
    void run() throws InterruptedException;
  }

  private static String unanswered(Command command) {
    var failed = assertThrows(GpushException.class, command::run);
    var question = assertInstanceOf(UsageFailure.NobodyToAsk.class, failed.failure());
    assertEquals("--discard", question.flag());
    return question.question();
  }

  @Test
  @Tag("local")
  void replacingAsksAsDownDoes() throws Exception {
    SessionView made = up(ask(project, 1), Talk.silent());
    Path file = checkpoint(made);
    UpRequest larger = replacing(ask(project, 2));

    String question = unanswered(() -> up(larger, FakeTalk.unattended()));

    assertEquals(
        "1 file, 15 B, exists only on the nodes of devbox and would be lost (node 0: ckpt.pt);"
            + " give the nodes back?",
        question);
    assertEquals(question, unanswered(() -> gateway.down(DEVBOX, false, FakeTalk.unattended())));
    assertTrue(Files.exists(file));
    assertEquals(made.id(), up(ask(project, 1), Talk.silent()).id());

    var talk = FakeTalk.unattended();
    assertNotEquals(made.id(), up(discarding(larger), talk).id());
    assertFalse(Files.exists(file));
    assertTrue(
        talk.lines().contains("kept, because gpush did not make it: node 0: " + file),
        talk.lines()::toString);
    rig.assertOneGang();
  }

  @Test
  @Tag("local")
  void aLookSaysWhatDownWouldStopAndAskAboutAndEndsNothing() throws Exception {
    SessionView made = up(ask(project, 1), Talk.silent());
    assertEquals(Optional.empty(), gateway.ending(DEVBOX, Talk.silent()).lost());
    gateway.runs().launch(DEVBOX, Asked.run(project, "sleep", "600"), Talk.silent());
    Path file = checkpoint(made);

    Ending end = gateway.ending(DEVBOX, FakeTalk.unattended());

    assertEquals(List.of(1), end.running().stream().map(Ending.Going::number).toList());
    assertEquals(
        Optional.of(
            "1 file, 15 B, exists only on the nodes of devbox and would be lost (node 0:"
                + " ckpt.pt)"),
        end.lost());
    assertTrue(Files.exists(file));
    assertEquals(made.id(), up(ask(project, 1), Talk.silent()).id());
  }

  /** To end a run is what was asked for; what it left on the disk is another question. */
  @Test
  void runsAndFilesAreTwoQuestionsForDownAndForReplacing() throws Exception {
    SessionView made = up(ask(project, 1), Talk.silent());
    gateway.runs().launch(DEVBOX, Asked.run(project, "sleep", "600"), Talk.silent());
    Path file = checkpoint(made);
    var questions =
        List.of(
            "run 1 (sleep, 1 rank, AGE) is in progress on devbox; stop it and give the nodes back?",
            "1 file, 15 B, exists only on the nodes of devbox and would be lost (node 0:"
                + " ckpt.pt); give the nodes back?");

    var down = FakeTalk.unattended();
    unanswered(() -> gateway.down(DEVBOX, false, down));
    var replace = FakeTalk.unattended();
    unanswered(() -> up(replacing(ask(project, 2)), replace));

    assertEquals(questions, questions(down));
    assertEquals(questions, questions(replace));
    assertTrue(Files.exists(file));
    assertTrue(up(discarding(replacing(ask(project, 2))), Talk.silent()).isNew());
  }

  @Test
  @Tag("local")
  void replacingWhatLostANodeAsksForTheOthers() throws Exception {
    SessionView made = up(ask(project, 2), Talk.silent());
    Path file = checkpoint(made);
    rig.site().kill(rig.gang(made), 1);
    ProcessHandle.of(made.nodes().get(1).agentPid()).orElseThrow().destroyForcibly();
    until("a node is lost", () -> gateway.find(DEVBOX).isLost(1));

    unanswered(() -> up(replacing(ask(project, 2)), FakeTalk.unattended()));

    assertTrue(Files.exists(file));
    assertTrue(up(discarding(replacing(ask(project, 2))), FakeTalk.unattended()).isNew());
  }

  /** It went with the disks, and nothing was said. */
  @Test
  @Tag("local")
  void theTrashOfANodeIsKeptHereAndALargeOneIsAskedAbout() throws Exception {
    SessionView made = up(ask(project, 1), Talk.silent());
    Path trash = Path.of(made.nodes().getFirst().info().state()).resolve("trash/G1");
    Files.createDirectories(trash);
    Path large = trash.resolve("large");
    Files.write(large, new byte[2 << 20]);

    assertEquals(
        "1 file, 2.1 MB, exists only on the nodes of devbox and would be lost (node 0: its trash);"
            + " give the nodes back?",
        unanswered(() -> gateway.down(DEVBOX, false, FakeTalk.unattended())));
    Files.delete(large);
    Files.writeString(trash.resolve("model.py"), "replaced");
    var talk = FakeTalk.unattended();
    gateway.down(DEVBOX, false, talk);

    List<String> kept =
        talk.lines().stream().filter(line -> line.startsWith("the trash of node 0")).toList();
    String said = "the trash of node 0 (1 file) is kept as ";
    assertEquals(1, kept.size(), talk.lines()::toString);
    assertTrue(Files.exists(Path.of(kept.getFirst().substring(said.length()))), kept::toString);
  }

  /** Nothing is linked here, because another gateway has the gang. */
  @Test
  void whatCannotBeLookedAtIsAskedAboutToo() throws Exception {
    Path file = checkpoint(up(ask(project, 1), Talk.silent()));
    LiveSession session = gateway.find(DEVBOX);
    session.unlink();

    String question = unanswered(() -> up(replacing(ask(project, 2)), FakeTalk.unattended()));

    assertEquals(
        "gpush could not check node 0 for files that exist only there; give the nodes back?",
        question);
    assertTrue(Files.exists(file));
    assertEquals(SessionState.READY, session.entry().state());
    gateway.down(DEVBOX, true, Talk.silent());
  }

  @Test
  @Tag("local")
  void whereDisksStayNothingIsAsked() throws Exception {
    gateway.close();
    gateway = rig.gateway();
    Path file = checkpoint(up(ask(project, 1), Talk.silent()));

    assertTrue(up(replacing(ask(project, 2)), FakeTalk.unattended()).isNew());

    assertTrue(Files.exists(file));
  }
}
