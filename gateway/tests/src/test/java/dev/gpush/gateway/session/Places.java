package dev.gpush.gateway.session;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.session.UpRequest;
import dev.gpush.testkit.fake.FakeBackend;
import dev.gpush.testkit.fake.FakeSite;
import dev.gpush.testkit.fake.FakeTrouble;
import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Pretended sites of eight GPUs each, by name; others may fill and free them. */
public final class Places {
  private static final int GPUS = 8;

  private record Place(FakeSite site, FakeTrouble trouble) {}

  private final SessionRig rig;
  private final Path project;
  private final Map<String, Place> places = new LinkedHashMap<>();
  private final Map<String, Gang> hogs = new HashMap<>();

  public Places(SessionRig rig) throws IOException {
    this.rig = rig;
    this.project = rig.project("project");
  }

  private Place place(String name) {
    return places.computeIfAbsent(
        name,
        each -> {
          FakeTrouble trouble = FakeTrouble.none(each.hashCode());
          return new Place(
              new FakeSite(rig.path("nodes-" + each), GPUS, new ManualClock(), trouble), trouble);
        });
  }

  public FakeSite site(String name) {
    return place(name).site();
  }

  public FakeTrouble trouble(String name) {
    return place(name).trouble();
  }

  public Backend plain(String name) {
    return FakeBackend.withAgents(name, site(name), rig.agent());
  }

  public Backend local(String name) {
    return FakeBackend.withAgents(name, site(name), rig.agent()).local();
  }

  public Backend queueing(String name) {
    return queueing(name, () -> true);
  }

  Backend queueing(String name, BooleanSupplier isAlive) {
    return FakeBackend.queueing(name, site(name), rig.agent(), isAlive);
  }

  /** Somebody else has all of it. */
  public void fill(String name) throws InterruptedException {
    var request =
        GangRequest.of(
            new GangId("%016x".formatted(name.hashCode() & 0xffffffffL)),
            new Requester("somebody", "else", "hog", "project"),
            1,
            new GpuRequest(Optional.empty(), GPUS),
            new LeaseTerms(Optional.empty(), Duration.ofDays(1)));
    hogs.put(name, FakeBackend.bare(name, site(name)).reserve(request));
  }

  /** And gives it back. */
  public void free(String name) throws InterruptedException {
    Optional<Gang> hog = Optional.ofNullable(hogs.remove(name));
    if (hog.isPresent()) {
      FakeBackend.bare(name, site(name)).release(hog.get(), Duration.ofSeconds(9));
    }
  }

  /** A request that somebody takes out of the queue. */
  void cancel(String name, GangId gang) {
    site(name).cancel(gang);
  }

  public UpRequest ask() {
    return ask(GPUS);
  }

  public UpRequest ask(int gpus) {
    UpRequest asked = SessionRig.ask(project, 1);
    var each = new GpuRequest(Optional.empty(), gpus);
    return asked.wanting(asked.wanted().size(asked.wanted().nodes(), Optional.of(each)));
  }

  /** Gangs of ours that are held, by site. */
  Map<String, List<GangId>> held() {
    var held = new LinkedHashMap<String, List<GangId>>();
    places.forEach(
        (name, place) ->
            held.put(
                name,
                FakeBackend.bare(name, place.site()).discover("me").stream()
                    .filter(found -> !found.gang().nodes().isEmpty())
                    .map(found -> found.gang().id())
                    .toList()));
    return held;
  }

  public void assertNothingHeld() {
    held().forEach((name, gangs) -> assertEquals(List.of(), gangs, name));
    places.forEach((name, place) -> assertEquals(List.of(), place.site().waiting(), name));
  }
}
