package dev.gpush.gateway.session.placement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.UpRequest;
import dev.gpush.gateway.session.LedgerEntries;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.templates.YamlConfigs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class PreferencesTest {
  @TempDir private Path temporary;
  private Path project;
  private Path home;
  private Preferences preferences;

  @BeforeEach
  void begin() throws IOException {
    project = Files.createDirectories(temporary.resolve("project"));
    home = Files.createDirectories(temporary.resolve("home"));
    preferences = new Preferences(home.resolve("folders"));
  }

  private ResolvedUp wish(
      Optional<Integer> nodes, Optional<String> gpus, Optional<String> backend) {
    UpRequest request =
        UpRequest.of(project, Map.of())
            .wanting(
                UpRequest.Wanted.asConfigured()
                    .on(backend)
                    .size(nodes, gpus.map(GpuRequest::parse)));
    return preferences.wish(
        request, new YamlConfigs(home, temporary.resolve("no-site.yaml"), "ann").load(project));
  }

  private ResolvedUp plain() {
    return wish(Optional.empty(), Optional.empty(), Optional.empty());
  }

  private void remembered(int nodes, String gpus, String backend) {
    preferences.remember(
        new YamlConfigs(home, temporary.resolve("no-site.yaml"), "ann").load(project).root(),
        wish(Optional.of(nodes), Optional.of(gpus), Optional.of(backend)));
  }

  private void write(Path file, String yaml) throws IOException {
    Files.createDirectories(file.getParent());
    Files.writeString(file, yaml);
  }

  @Test
  void withoutAnythingItIsOneCpuNodeForAnHour() {
    ResolvedUp wish = plain();

    assertEquals(1, wish.nodes());
    assertEquals(GpuRequest.none(), wish.gpus());
    assertEquals(Duration.ofHours(1), wish.lease().idle());
    assertEquals(Optional.empty(), wish.lease().hardEnd());
    assertEquals(List.of(), wish.notes());
    assertEquals("1 CPU node", wish.words());
  }

  @Test
  void flagsGoOverLocalOverProjectOverHabitOverConfig() throws IOException {
    write(home.resolve("config.yaml"), "defaults:\n  nodes: 2\n");
    assertEquals(2, plain().nodes());

    remembered(3, "0", "local");
    assertEquals(3, plain().nodes());
    assertEquals(List.of("as last time here: --nodes 3"), plain().notes());

    write(project.resolve("gpush.yaml"), "nodes: 4\n");
    assertEquals(4, plain().nodes());
    assertEquals(List.of(), plain().notes());

    write(project.resolve("gpush.local.yaml"), "nodes: 5\n");
    assertEquals(5, plain().nodes());

    assertEquals(6, wish(Optional.of(6), Optional.empty(), Optional.empty()).nodes());
  }

  @Test
  void gpusAreReadAsTextAndAsNumber() throws IOException {
    write(project.resolve("gpush.yaml"), "gpus: 4\n");
    assertEquals(GpuRequest.parse("4"), plain().gpus());

    write(project.resolve("gpush.yaml"), "gpus: H100:8\n");
    assertEquals("1 × 8 = 8 H100", plain().words());
  }

  @Test
  void aHabitOfABackendThatIsNotConfiguredAnyMoreIsForgotten() {
    remembered(2, "0", "hpc");

    assertEquals(List.of(), plain().backends());
    assertEquals(2, plain().nodes());
  }

  @Test
  void aHabitThatCannotBeReadIsForgotten() throws IOException {
    remembered(2, "H100:8", "local");
    Path file;
    try (Stream<Path> all = Files.list(home.resolve("folders"))) {
      file = all.findFirst().orElseThrow();
    }
    for (String text :
        List.of("", "{", "{\"nodes\": 99999999999}", "{\"nodes\": -1}", "{\"gpus\": \"a:b:c\"}")) {
      Files.writeString(file, text);

      assertEquals(1, plain().nodes(), text);
      assertEquals(GpuRequest.none(), plain().gpus(), text);
    }
  }

  @Test
  void aHabitThatCannotBeWrittenIsNoFailure() throws IOException {
    Files.writeString(home.resolve("folders"), "a file where the folder should be");

    remembered(2, "0", "local");

    assertEquals(1, plain().nodes());
  }

  @Test
  void moreNodesThanWereEverTriedAreRefused() {
    for (int nodes : new int[] {0, -1, 257}) {
      GpushException thrown =
          assertThrows(
              GpushException.class,
              () -> wish(Optional.of(nodes), Optional.empty(), Optional.empty()));

      assertInstanceOf(UsageFailure.BadValue.class, thrown.failure());
    }
  }

  @Test
  void onlyWhatIsAskedForMakesADifference() throws IOException {
    LedgerEntry has = new LedgerEntries(3).any(SessionState.READY);
    String other = has.gpus().isNone() ? "3" : "0";

    assertEquals(List.of(), plain().differences(has));
    assertEquals(
        List.of(
            new SessionFailure.Difference("nodes", "" + has.asked().nodes(), "9"),
            new SessionFailure.Difference(
                "gpus", has.gpus().toString(), GpuRequest.parse(other).toString()),
            new SessionFailure.Difference("backend", "local", "hpc")),
        wish(Optional.of(9), Optional.of(other), Optional.of("hpc")).differences(has));

    remembered(7, other, "local");
    assertEquals(List.of(), plain().differences(has));

    write(project.resolve("gpush.yaml"), "nodes: 8\n");
    assertEquals(
        List.of(new SessionFailure.Difference("nodes", "" + has.asked().nodes(), "8")),
        plain().differences(has));
  }
}
