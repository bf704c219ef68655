package dev.gpush.backends.hosts.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.hosts.HostsBackend;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.Ended;
import dev.gpush.testkit.rig.SshRig;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Hosts as they are: used by others, with one home, noisy, restricted, without power. */
@ResourceLock(SshRig.NAME)
@Tag("hosts")
final class SshHostsTest {
  @Test
  void aGpuThatSomebodyUsesWithoutUsIsNotTakenAndNamed() throws Exception {
    SshRig rig = SshRig.required();
    try (RigPlace place = new RigPlace(rig, "h1")) {
      rig.gpus("h1", "3 4711 60000 /usr/bin/python3\n");
      HostsBackend backend = place.backend();

      Plan.Later later =
          assertInstanceOf(
              Plan.Later.class, backend.plan(place.request(1, "8", BackendContract.LONG)));
      Gang rest = backend.reserve(place.request(1, "7", BackendContract.LONG));

      assertEquals(List.of("python3 (process 4711), without gpush on h1 (1 GPU)"), later.holders());
      assertEquals(List.of("0", "1", "2", "4", "5", "6", "7"), rest.nodes().getFirst().slots());
      assertEquals("1 host: 8 × H100, 0 free", backend.describe());
      assertEquals(List.of(), backend.release(rest, BackendContract.LIMIT));
    } finally {
      rig.gpus("h1", "");
    }
  }

  @Test
  void aDriverThatDoesNotAnswerIsSaid() throws Exception {
    SshRig rig = SshRig.required();
    try (RigPlace place = new RigPlace(rig, "h1")) {
      rig.gpus("h1", "broken\n");

      assertEquals("1 host: no GPUs; h1: nvidia-smi: exit status 9", place.backend().describe());
      assertInstanceOf(
          Plan.Later.class, place.backend().plan(place.request(1, "1", BackendContract.LONG)));
    } finally {
      rig.gpus("h1", "");
    }
  }

  @Test
  void oneHomeNoiseAndARestrictedShellAreHostsLikeOthers() throws Exception {
    SshRig rig = SshRig.required();
    try (RigPlace place = new RigPlace(rig, "h5", "h6", "noisy", "restricted")) {
      HostsBackend backend = place.backend();

      Gang gang = backend.reserve(place.request(4, "0", BackendContract.LONG));

      assertEquals(
          List.of("h5", "h6", "noisy", "restricted"),
          gang.nodes().stream().map(NodeInfo::host).toList());
      for (NodeInfo node : gang.nodes()) {
        Ended said =
            Ended.of(
                backend.spawn(gang, node.index(), List.of("printf", "%s", "a 'b' $c")),
                new byte[0]);
        assertEquals(new Ended("a 'b' $c", "", 0), said);
      }
      assertInstanceOf(Plan.Later.class, backend.plan(place.request(1, "0", BackendContract.LONG)));
      assertEquals(List.of(), backend.release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void aHostThatLostItsPowerIsFreeAgainAndItsNodeLost() throws Exception {
    SshRig rig = SshRig.required();
    try (RigPlace place = RigPlace.brief(rig, "h3", "h4")) {
      HostsBackend backend = place.backend();
      Gang gang = backend.reserve(place.request(2, "8", BackendContract.LONG));
      rig.with("stop", "h4");
      try {
        awaitSilence(backend, gang);
      } finally {
        rig.with("start", "h4");
      }

      Observation.Partly partly = awaitPartly(backend, gang);
      Gang next = backend.reserve(place.request(1, "8", BackendContract.LONG));

      assertEquals(List.of(1), partly.lost());
      assertEquals("h4", next.nodes().getFirst().host());
      assertEquals(List.of(), backend.release(next, BackendContract.LIMIT));
      assertEquals(List.of(), backend.release(gang, BackendContract.LIMIT));
      assertEquals(List.of(), place.leftovers());
    }
  }

  /** Without an answer nobody can tell: that is never gone. */
  private static void awaitSilence(HostsBackend backend, Gang gang) {
    assertInstanceOf(Observation.CannotTell.class, backend.observe(gang));
  }

  private static Observation.Partly awaitPartly(HostsBackend backend, Gang gang) {
    long start = System.nanoTime();
    while (true) {
      if (backend.observe(gang) instanceof Observation.Partly partly) {
        return partly;
      }
      assertTrue(System.nanoTime() - start < BackendContract.LIMIT.toNanos(), "h4 stays silent");
    }
  }

  @Test
  void aHostThatNeedsAPersonSaysSoWhenItIsMissed() throws Exception {
    try (RigPlace place = new RigPlace(SshRig.required(), "h5", "mfa")) {
      assertInstanceOf(
          Plan.Now.class, place.backend().plan(place.request(1, "0", BackendContract.LONG)));

      GpushException refused =
          assertThrows(
              GpushException.class,
              () -> place.backend().plan(place.request(2, "0", BackendContract.LONG)));

      assertInstanceOf(MachineFailure.NeedsYou.class, refused.failure());
      assertTrue(
          place.backend().describe().endsWith("; mfa needs you to log in: gpush login rack"));
    }
  }

  @Test
  void whoHoldsAHostIsNamedWithSinceWhen() throws Exception {
    try (RigPlace place = new RigPlace(SshRig.required(), "h2")) {
      Gang gang = place.backend().reserve(place.request(1, "8", BackendContract.LONG));

      Plan.Later later =
          assertInstanceOf(
              Plan.Later.class, place.backend().plan(place.request(1, "1", BackendContract.LONG)));

      String holder = later.holders().getFirst();
      assertTrue(holder.matches("devbox of alice for [0-9]+s on h2 \\(8 GPUs\\)"), holder);
      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
    }
  }
}
