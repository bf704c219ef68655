package dev.gpush.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import dev.gpush.testkit.fake.FakeBackend;
import dev.gpush.testkit.fake.FakeSite;
import dev.gpush.testkit.fake.FakeTrouble;
import dev.gpush.testkit.fake.FakeTrouble.Moment;
import dev.gpush.testkit.fake.FakeTrouble.Operation;
import dev.gpush.testkit.fake.ManualClock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The block of a backend was edited while a gang of it runs. */
final class MovedBackendTest {
  private static final Duration LIMIT = Duration.ofMinutes(1);

  @TempDir Path folder;
  private final FakeTrouble trouble = FakeTrouble.none(1);
  private Backend before;
  private Backend now;

  @BeforeEach
  void begin() {
    before = site("before", trouble);
    now = site("now", FakeTrouble.none(2));
  }

  private Backend site(String name, FakeTrouble with) {
    return FakeBackend.bare("hpc", new FakeSite(folder.resolve(name), 8, new ManualClock(), with));
  }

  private static Gang reserved(Backend there) throws InterruptedException {
    return there.reserve(
        GangRequest.of(
            new GangId("0123456789abcdef"),
            new Requester("me", "me@here", "devbox", "project"),
            1,
            GpuRequest.parse("2"),
            new LeaseTerms(Optional.empty(), Duration.ofHours(1))));
  }

  /** It was called gone, and its nodes ran on. */
  @Test
  void theGangIsReachedAndReleasedWhereItWasAskedFor() throws Exception {
    Gang gang = reserved(before);
    var moved = new MovedBackend(before, now);

    assertInstanceOf(Observation.Exists.class, moved.observe(gang));
    assertEquals(1, moved.discover("me").size());
    moved.release(gang, LIMIT);

    assertInstanceOf(Observation.Gone.class, before.observe(gang));
    assertInstanceOf(Observation.Gone.class, moved.observe(gang));
  }

  /** The login node of the block is off for good, and the other one is of the same cluster. */
  @Test
  void theGangIsFoundBehindAnotherNameOfItsPlace() throws Exception {
    Gang gang = reserved(now);
    var moved = new MovedBackend(before, now);
    trouble.fail(Operation.OBSERVE, Moment.BEFORE);

    assertInstanceOf(Observation.Exists.class, moved.observe(gang));
    moved.release(gang, LIMIT);

    assertInstanceOf(Observation.Gone.class, now.observe(gang));
  }

  @Test
  void itsAbsenceElsewhereProvesNothing() throws Exception {
    Gang gang = reserved(before);
    var moved = new MovedBackend(before, now);
    trouble.fail(Operation.OBSERVE, Moment.BEFORE);
    trouble.fail(Operation.OBSERVE, Moment.BEFORE);

    assertInstanceOf(Observation.CannotTell.class, moved.observe(gang));
    assertInstanceOf(Observation.Exists.class, moved.observe(gang));
  }

  @Test
  void aPlaceIsWhatOfABlockSaysWhereItLeads() {
    Map<BackendConfig, Backend> made = new HashMap<>();
    var config = block(Json.object("login", "a", "partition", "gpu"));
    var edited = block(Json.object("login", "b", "cluster", "two", "partition", "cpu"));
    var place = new MovedBackend.KeptPlace(edited, block -> made.computeIfAbsent(block, this::any));
    String kept = new MovedBackend.KeptPlace(config, _ -> before).now();

    assertEquals("{\"kind\":\"slurm\",\"login\":\"a\"}", kept);
    assertInstanceOf(MovedBackend.class, place.at(kept));
    assertEquals(
        List.of(Map.of("login", "a", "partition", "cpu")),
        made.keySet().stream()
            .filter(block -> !block.equals(edited))
            .map(block -> block.values().textMap())
            .toList());
    assertSame(made.get(edited), place.at(place.now()));
  }

  private Backend any(BackendConfig block) {
    return block.values().text("login").equals(Optional.of("a")) ? before : now;
  }

  private static BackendConfig block(Json.Obj values) {
    return new BackendConfig("hpc", "slurm", values, "config.yaml:2");
  }
}
