package dev.gpush.gateway.session.links;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.LeaseRecords;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.GatewaySessions;
import dev.gpush.gateway.session.SessionRig;
import dev.gpush.testkit.fake.FakeBackend;
import dev.gpush.testkit.fake.PassingBackend;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Node 0's agent has the lease of its start, as in another pod. */
final class LostLeaseTest {
  private static final Duration LEFT = Duration.ofMinutes(10);
  private static final Duration IDLE = Duration.ofHours(1);

  private SessionRig rig;
  private Recorded backend;

  @BeforeEach
  void begin() throws Exception {
    rig = SessionRig.calm();
    backend = new Recorded(rig.backend().guarded());
  }

  @AfterEach
  void end() throws Exception {
    rig.close();
  }

  private GatewaySessions gateway() {
    return rig.gateway(List.of(backend), SessionRig.DEADLINE);
  }

  private static Json status(GatewaySessions gateway) {
    try {
      return gateway.find(DEVBOX).link(0).call("status", Json.object());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stop);
    }
  }

  private static void awaitGiven(GatewaySessions gateway) {
    until(
        () -> "it has the lease: " + status(gateway),
        () -> status(gateway).text("lease_from").orElse("").equals("renewed"));
    long left = status(gateway).number("hard_left_s").orElse(0L);
    assertTrue(left > 540 && left <= LEFT.toSeconds(), () -> left + " s are left");
  }

  /** It has the lease of its start, of which the backend says no other. */
  private SessionView made(GatewaySessions gateway) throws Exception {
    backend.isSilent = true;
    SessionView made = gateway.up(ask(rig.project("project")), Talk.silent());
    until("it was asked", () -> !backend.asked.isEmpty());
    assertFalse(status(gateway).number("hard_left_s").isPresent());
    backend.asked.clear();
    backend.isSilent = false;
    return made;
  }

  private static void kill(SessionView session) {
    ProcessHandle.of(session.nodes().getFirst().agentPid()).orElseThrow().destroyForcibly();
  }

  /** It stayed without, and the agent after it hid that. */
  @Test
  void isGivenAgainAlsoWhereTheBackendDoesNotAnswerAtFirst() throws Exception {
    GatewaySessions gateway = gateway();
    SessionView made = made(gateway);
    backend.failures.set(2);

    kill(made);
    until("the next agent is linked", () -> !backend.asked.isEmpty());

    awaitGiven(gateway);
    assertEquals(List.of(IDLE), backend.asked.stream().distinct().toList());
  }

  /** The pod was replaced while its files were sent. */
  @Test
  void isGivenWhenTheSessionIsReady() throws Exception {
    GatewaySessions gateway = gateway();

    gateway.up(ask(rig.project("project")), Talk.silent());

    awaitGiven(gateway);
  }

  /** The pod was replaced while no gateway ran. */
  @Test
  void isGivenAgainByAGatewayThatStarts() throws Exception {
    GatewaySessions before = gateway();
    made(before);
    before.close();

    GatewaySessions gateway = gateway();
    gateway.recover();
    SessionRig.awaitSettled(gateway);

    awaitGiven(gateway);
  }

  /** A backend that knows when its gangs end. */
  private static final class Recorded extends PassingBackend {
    private final AtomicInteger failures = new AtomicInteger();
    private volatile boolean isSilent;
    private final List<Duration> asked = new CopyOnWriteArrayList<>();

    Recorded(FakeBackend real) {
      super(real);
    }

    @Override
    public Capabilities capabilities() {
      return super.capabilities().with(LeaseRecords.class, this::lease);
    }

    private Optional<LeaseTerms> lease(Gang gang, Duration idle) {
      asked.add(idle);
      if (failures.getAndDecrement() > 0) {
        throw new GpushException(new BackendFailure.Unavailable(name(), "no answer", "try again"));
      }
      return isSilent ? Optional.empty() : Optional.of(new LeaseTerms(Optional.of(LEFT), idle));
    }
  }
}
