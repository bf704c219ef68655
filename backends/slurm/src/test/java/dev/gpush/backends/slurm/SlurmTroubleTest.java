package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.machine.PipeAround;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.rig.Script;
import dev.gpush.testkit.rig.SlurmRig;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** What goes wrong between us and a cluster, on the real one. */
@ResourceLock(SlurmRig.DEFAULT)
@Tag("slurm")
final class SlurmTroubleTest {
  private static final Duration LIMIT = BackendContract.LIMIT;

  /** Loses answers of sbatch, and says nothing of the first squeues after. */
  private static final class Forgetful implements Machine {
    private final Machine real;
    private final int mute;
    private final AtomicInteger submitted = new AtomicInteger();
    private final AtomicInteger muted = new AtomicInteger();

    Forgetful(Machine real, int mute) {
      this.real = real;
      this.mute = mute;
    }

    @Override
    public String name() {
      return real.name();
    }

    @Override
    public Pipe spawn(List<String> arguments) throws IOException {
      if (arguments.contains("--dependency=singleton") && submitted.getAndIncrement() == 0) {
        return new LostAnswer(real.spawn(arguments));
      }
      boolean isMuted =
          arguments.contains("squeue") && submitted.get() == 1 && muted.getAndIncrement() < mute;
      return real.spawn(isMuted ? List.of("true") : arguments);
    }
  }

  /** The command has all it wants and does its work; then the way back is cut. */
  private static final class LostAnswer extends PipeAround {
    LostAnswer(Pipe pipe) {
      super(
          pipe,
          new InputStream() {
            @Override
            public int read() throws IOException {
              pipe.output().readAllBytes();
              throw new IOException("the connection was lost");
            }
          },
          pipe.errors());
    }
  }

  private static String jobs(SlurmPlace place, GangRequest request) throws Exception {
    return place.rig().ann("squeue", "-h", "-n", "gpush-" + request.gang(), "-o", "%i");
  }

  @Test
  void aLostAnswerIsNoSecondJob() throws Exception {
    try (var place = SlurmPlace.of("default")) {
      GangRequest request = place.request(2, "H100:1", BackendContract.LONG);
      SlurmBackend backend = place.over(new Forgetful(place.rig().login("ann"), 0));

      Gang gang = backend.reserve(request);

      assertEquals("slurm job " + jobs(place, request), gang.detail());
      assertEquals(List.of(), backend.release(gang, LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void ofTwoJobsTheOlderStays() throws Exception {
    try (var place = SlurmPlace.of("default")) {
      GangRequest request = place.request(1, "H100:1", BackendContract.LONG);
      var forgetful = new Forgetful(place.rig().login("ann"), 4);

      Gang gang = place.over(forgetful).reserve(request);

      assertEquals(2, forgetful.submitted.get());
      assertEquals("slurm job " + jobs(place, request), gang.detail());
      assertEquals(List.of(), place.backend().release(gang, LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void aJobThatHasEndedIsNotAskedForAgain() throws Exception {
    try (var place = SlurmPlace.of("default")) {
      GangRequest request = place.request(1, "H100:1", BackendContract.LONG);
      Gang gang = place.backend().reserve(request);
      place.backend().release(gang, LIMIT);

      GpushException refused =
          assertThrows(GpushException.class, () -> place.backend().reserve(request));

      var failure = assertInstanceOf(BackendFailure.ReserveFailed.class, refused.failure());
      assertTrue(failure.reason().contains("ended"), failure::reason);
      assertEquals("", jobs(place, request));
    }
  }

  @Test
  void whoeverCancelsFromOutsideIsSaid() throws Exception {
    try (var place = SlurmPlace.of("default")) {
      GangRequest request = place.request(2, "H100:1", BackendContract.LONG);
      Gang gang = place.backend().reserve(request);

      place.rig().ann("scancel", jobs(place, request));
      SlurmPlace.until(() -> place.backend().observe(gang) instanceof Observation.Gone);

      var gone = assertInstanceOf(Observation.Gone.class, place.backend().observe(gang));
      assertTrue(gone.reason().contains("was cancelled"), gone::reason);
      assertEquals(List.of(), place.backend().release(gang, LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void anAgentThatDoesNotAnswerDoesNotKeepTheJob() throws Exception {
    try (var place = SlurmPlace.of("default")) {
      Gang gang = place.backend().reserve(place.request(2, "H100:1", BackendContract.LONG));
      place.stopAgent(gang, 1);

      assertEquals(List.of(), place.backend().release(gang, Duration.ofMinutes(1)));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void withoutItsControllerNobodyCanTell() throws Exception {
    try (var place = SlurmPlace.of("default")) {
      GangRequest request = place.request(1, "H100:1", BackendContract.LONG);
      Gang gang = place.backend().reserve(request);
      place.rig().root("ctl", "pkill", "-STOP", "slurmctld");
      try {
        var unknown = assertInstanceOf(Observation.CannotTell.class, place.backend().observe(gang));
        assertTrue(unknown.reason().contains("answer"), unknown::reason);
        GpushException refused =
            assertThrows(
                GpushException.class, () -> place.backend().release(gang, Duration.ofSeconds(2)));
        assertInstanceOf(BackendFailure.NotReleased.class, refused.failure());
      } finally {
        place.rig().root("ctl", "pkill", "-CONT", "slurmctld");
      }

      SlurmPlace.until(() -> place.backend().observe(gang) instanceof Observation.Exists);
      assertEquals(List.of(), place.backend().release(gang, LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void anIntruderGetsNothing() throws Exception {
    try (var place = SlurmPlace.of("default")) {
      GangRequest request = place.request(1, "H100:1", BackendContract.LONG);
      Gang gang = place.backend().reserve(request);
      SlurmRig rig = place.rig();
      String job = jobs(place, request);
      String host = gang.nodes().getFirst().host();

      SlurmBackend bobs = place.over(rig.login("bob"));
      assertEquals(List.of(), bobs.discover("alice"));
      assertInstanceOf(Observation.Gone.class, bobs.observe(gang));
      Pipe pipe = bobs.spawn(gang, 0, List.of("true"));
      assertNotEquals(0, pipe.await());
      assertNotEquals(0, rig.tried("bob", "scancel", job).status());
      assertNotEquals(0, rig.tried("bob", "ls", "/home/ann/gpush").status());
      String script = "scontrol write batch_script " + job + " -";
      String written = rig.tried("bob", "sh", "-c", script).output();
      assertTrue(!written.contains("base64"), written);
      Script.Ended peek =
          rig.tried("bob", "srun", "-w", host, "-N1", "-c1", "--mem=10", "ls", "/tmp/gpush-20001");
      assertTrue(peek.errors().contains("Permission denied"), peek::errors);

      assertInstanceOf(Observation.Exists.class, place.backend().observe(gang));
      assertEquals(List.of(), place.backend().release(gang, LIMIT));
    }
  }
}
