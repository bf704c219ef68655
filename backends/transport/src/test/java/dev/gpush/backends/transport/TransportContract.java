package dev.gpush.backends.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Inquiry.Answer;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Work;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.rig.SshRig;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What every transport does, on the hosts of the ssh rig. */
interface TransportContract {
  Duration LIMIT = BackendContract.LIMIT;

  /** How long a host may be silent, or take to be reached, before it counts as unreachable. */
  Duration PATIENT = Duration.ofMinutes(1);

  /** The same where a test waits for that. */
  Duration BRIEF = Duration.ofSeconds(3);

  /** A transport of its own. */
  default TransportPlace open(SshRig rig) throws Exception {
    return open(rig, PATIENT);
  }

  TransportPlace open(SshRig rig, Duration patience) throws Exception;

  @ParameterizedTest
  @ValueSource(
      strings = {"h1", "noisy", "cleo@restricted", "finn@restricted", "ann@restricted", "inner"})
  default void commandsRunAsTheyAreWhateverTheShell(String name) throws Exception {
    try (TransportPlace place = open(SshRig.required())) {
      RemoteMachine machine = place.machine(name);
      String odd = "a b\t'c' \"$(d)\" \\ é *\n-n;&|!";

      Answer said = place.ask(machine, "printf", "%s", odd);
      Answer failed = place.ask(machine, "sh", "-c", "echo out; echo oops >&2; exit 7");

      assertEquals(new Answer(0, odd, ""), said);
      assertEquals(new Answer(7, "out\n", "oops\n"), failed);
    }
  }

  @Test
  default void bytesAreBytesBothWays() throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.out.println("bytesAreBytesBothWays -Dgpush.seed=" + seed);
    var bytes = new byte[3_000_000];
    new Random(seed).nextBytes(bytes);
    try (TransportPlace place = open(SshRig.required())) {
      try (Pipe pipe = place.machine("noisy").spawn(List.of("cat"))) {
        place.tasks().start("write", () -> write(pipe, bytes));

        assertArrayEquals(bytes, pipe.output().readAllBytes());
        assertEquals("", new String(pipe.errors().readAllBytes(), StandardCharsets.UTF_8));
        assertEquals(0, pipe.await());
      }
    }
  }

  private static void write(Pipe pipe, byte[] bytes) {
    try (var input = pipe.input()) {
      input.write(bytes);
    } catch (java.io.IOException broken) {
      throw new java.io.UncheckedIOException(broken);
    }
  }

  @Test
  default void manyCommandsShareOneLogin() throws Exception {
    SshRig rig = SshRig.required();
    try (TransportPlace place = open(rig)) {
      int before = rig.count("h3", "logins");
      RemoteMachine machine = place.machine("h3");
      List<Work<Answer, Exception>> questions = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        questions.add(() -> place.ask(machine, "hostname"));
      }

      List<Answer> answers = place.tasks().all("many", questions);

      assertTrue(answers.stream().allMatch(new Answer(0, "h3\n", "")::equals), answers::toString);
      assertEquals(before + 1, rig.count("h3", "logins"));
    }
  }

  @Test
  default void moreCommandsThanAConnectionTakesRunAtOnce() throws Exception {
    try (TransportPlace place = open(SshRig.required())) {
      var pipes = new ArrayList<Pipe>();
      for (int i = 0; i < 20; i++) {
        pipes.add(place.machine("h4").spawn(List.of("sh", "-c", "echo up; exec cat")));
      }
      for (Pipe pipe : pipes) {
        assertEquals('u', pipe.output().read());
      }
      for (Pipe pipe : pipes) {
        pipe.close();
      }
    }
  }

  @Test
  default void closingAPipeEndsTheCommand() throws Exception {
    SshRig rig = SshRig.required();
    try (TransportPlace place = open(rig)) {
      Pipe pipe = place.machine("h1").spawn(List.of("sh", "-c", "echo up; exec cat 77.fifo -"));
      assertEquals('u', pipe.output().read());

      pipe.close();
      pipe.close();

      assertTrue(pipe.await() != 0);
      long start = System.nanoTime();
      while (rig.in("h1", "ps", "-eo", "args").contains("cat 77.fifo")) {
        assertTrue(System.nanoTime() - start < LIMIT.toNanos(), "the command lives on");
      }
    }
  }

  @Test
  default void whatIsWrongIsToldApart() throws Exception {
    SshRig rig = SshRig.required();
    try (TransportPlace place = open(rig)) {
      assertInstanceOf(MachineFailure.UnknownHost.class, refused(place, "no-such-host.invalid"));
      assertInstanceOf(MachineFailure.Refused.class, refused(place, "h1:2"));
      assertInstanceOf(MachineFailure.KeyRefused.class, refused(place, "nobody@h1"));
      assertInstanceOf(MachineFailure.NeedsYou.class, refused(place, "mfa"));
    }
  }

  @Test
  default void aHostThatDoesNotAnswerIsUnreachable() throws Exception {
    SshRig rig = SshRig.required();
    rig.with("cut", "h3");
    try (TransportPlace place = open(rig, BRIEF)) {
      assertInstanceOf(MachineFailure.Unreachable.class, refused(place, "h3"));
    } finally {
      rig.with("heal", "h3");
    }
  }

  @Test
  default void aChangedHostKeyIsAStopAndAnUnknownOneToo() throws Exception {
    SshRig rig = SshRig.required();
    try (TransportPlace place = open(rig)) {
      rig.with("rekey", "h2");
      try {
        assertInstanceOf(MachineFailure.HostKeyChanged.class, refused(place, "h2"));
      } finally {
        rig.with("trust", "h2");
      }
      assertEquals("h2\n", place.ask(place.machine("h2"), "hostname").output());
    }
    var known = rig.config().resolveSibling("known_hosts");
    var aside = rig.config().resolveSibling("known_hosts.aside");
    Files.copy(known, aside, StandardCopyOption.REPLACE_EXISTING);
    try (TransportPlace place = open(rig)) {
      Files.write(known, new byte[0]);
      assertInstanceOf(MachineFailure.HostKeyUnknown.class, refused(place, "h2"));
    } finally {
      Files.move(aside, known, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  @Test
  default void onceAPersonWasNeededNothingIsTriedUntilOneCame() throws Exception {
    SshRig rig = SshRig.required();
    try (TransportPlace place = open(rig)) {
      RemoteMachine machine = place.machine("mfa");
      assertInstanceOf(MachineFailure.NeedsYou.class, refused(place, "mfa"));
      int connections = rig.count("mfa", "connections");
      int asked = rig.count("mfa", "asked");

      for (int i = 0; i < 3; i++) {
        assertInstanceOf(MachineFailure.NeedsYou.class, refused(place, "mfa"));
      }
      assertTrue(machine.closed().isPresent());
      assertEquals(connections, rig.count("mfa", "connections"));
      assertEquals(asked, rig.count("mfa", "asked"));

      machine.open(place.person("314159"));
      assertEquals("mfa\n", place.ask(machine, "hostname").output());
      assertEquals(connections + 1, rig.count("mfa", "connections"));
      assertEquals(asked + 1, rig.count("mfa", "asked"));
      assertTrue(machine.closed().isEmpty());
    }
  }

  @Test
  default void awrongAnswerLeavesItClosed() throws Exception {
    SshRig rig = SshRig.required();
    try (TransportPlace place = open(rig)) {
      RemoteMachine machine = place.machine("mfa");

      assertThrows(GpushException.class, () -> machine.open(place.person("0")));

      assertInstanceOf(MachineFailure.NeedsYou.class, refused(place, "mfa"));
    }
  }

  @Test
  default void aShellThatRunsNothingSaysSo() throws Exception {
    try (TransportPlace place = open(SshRig.required())) {
      Answer answer = place.ask(place.machine("nora@restricted"), "true");

      assertTrue(answer.status() != 0);
      assertTrue((answer.output() + answer.errors()).contains("not available"), answer::toString);
    }
  }

  @Test
  default void aConnectionThatWasCutIsOpenedAgain() throws Exception {
    SshRig rig = SshRig.required();
    try (TransportPlace place = open(rig)) {
      RemoteMachine machine = place.machine("h4");
      assertEquals("h4\n", place.ask(machine, "hostname").output());
      rig.with("stop", "h4");
      rig.with("start", "h4");

      long start = System.nanoTime();
      while (!answers(place, machine)) {
        assertTrue(System.nanoTime() - start < LIMIT.toNanos(), "it stays away");
      }
    }
  }

  private static boolean answers(TransportPlace place, RemoteMachine machine) throws Exception {
    try {
      return place.ask(machine, "hostname").succeeded();
    } catch (GpushException | IOException notYet) {
      // Refused, or the question went out on the old connection before that was known to be dead.
      return false;
    }
  }

  private static MachineFailure refused(TransportPlace place, String name) {
    GpushException failed =
        assertThrows(GpushException.class, () -> place.machine(name).spawn(List.of("true")));
    return assertInstanceOf(MachineFailure.class, failed.failure());
  }

  /** What a test has of a transport. */
  interface TransportPlace extends AutoCloseable {
    RemoteMachine machine(String name);

    dev.gpush.core.task.Tasks tasks();

    /** Somebody who gives this code. */
    dev.gpush.core.talk.Person person(String code) throws Exception;

    default Answer ask(RemoteMachine machine, String... command) throws Exception {
      return new Inquiry(machine, tasks()).ask(List.of(command), "", LIMIT);
    }

    @Override
    void close() throws java.io.IOException;
  }
}
