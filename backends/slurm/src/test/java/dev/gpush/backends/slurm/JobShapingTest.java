package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.slurm.cluster.Gres;
import dev.gpush.backends.slurm.cluster.Partition;
import dev.gpush.backends.slurm.cluster.SlurmNode;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class JobShapingTest {
  private static final Duration DAY = Duration.ofDays(1);

  private final List<Partition> partitions = new ArrayList<>();
  private final List<SlurmNode> nodes = new ArrayList<>();
  private Json.Obj settings = Json.object();

  private void partition(String name, boolean isDefault, Duration most, int mostNodes) {
    partitions.add(
        new Partition(
            name, isDefault, "UP", Optional.of(most), Optional.empty(), mostNodes, Duration.ZERO));
  }

  private void nodes(int count, String partition, String gres, String... features) {
    for (int i = 0; i < count; i++) {
      String name = partition + i;
      nodes.add(
          new SlurmNode(
              name,
              name,
              Set.of("IDLE"),
              new SlurmNode.Resources(Gres.parse(gres), 64, 500_000),
              List.of(),
              Set.of(features),
              Set.of(partition)));
    }
  }

  private JobShaping.Result result(int count, String gpus, Optional<Duration> hardEnd) {
    var request =
        GangRequest.of(
            new GangId("0123456789abcdef"),
            new Requester("ann", "h", "devbox", "proj"),
            count,
            GpuRequest.parse(gpus),
            new LeaseTerms(hardEnd, Duration.ofHours(1)));
    var config = SlurmSettings.of(new BackendConfig("hpc", "slurm", settings, ""));
    return new JobShaping(request, config, partitions, nodes).result();
  }

  private JobShape fits(int count, String gpus) {
    return assertInstanceOf(JobShaping.Result.Fits.class, result(count, gpus, Optional.empty()))
        .shape();
  }

  private JobShaping.Result.Hopeless hopeless(int count, String gpus) {
    return assertInstanceOf(
        JobShaping.Result.Hopeless.class, result(count, gpus, Optional.empty()));
  }

  @Test
  void theShareOfTheNodeThatTheGpusAre() {
    partition("gpu", true, DAY, 99);
    nodes(4, "gpu", "gpu:h100:8");

    JobShape half = fits(2, "H100:4");

    assertEquals("h100", half.gpuModel());
    assertEquals(
        List.of(
            "--nodes=2",
            "--ntasks-per-node=1",
            "--time=480",
            "--gres=gpu:h100:4",
            "--cpus-per-task=32",
            "--mem=237500M"),
        half.options());
    assertEquals(Duration.ofMinutes(478), half.hardEnd());
    assertTrue(fits(1, "8").options().contains("--gres=gpu:8"));
    assertEquals(8, fits(1, "0").cpus());
  }

  @Test
  void memoryIsAskedForAsTheNodesHaveIt() {
    partition("gpu", true, DAY, 99);
    String node = "NodeName=g1 CPUTot=8 Gres=gpu:h100:8 State=IDLE Partitions=gpu RealMemory=";

    nodes.addAll(SlurmNode.parse(node + "100000 MemSpecLimit=20000"));
    assertTrue(fits(1, "8").options().contains("--mem=76000M"));

    nodes.clear();
    nodes.addAll(SlurmNode.parse(node + "1"));
    assertTrue(fits(1, "8").options().stream().noneMatch(each -> each.startsWith("--mem")));
  }

  @Test
  void whatTheConfigurationSaysGoesToSbatch() {
    partition("gpu", true, DAY, 99);
    partition("long", false, Duration.ofDays(7), 99);
    nodes(2, "gpu", "gpu:a100_80gb:4");
    nodes(2, "long", "gpu:a100_80gb:4");
    settings =
        Json.object(
            "account",
            "lab",
            "qos",
            "high",
            "partition",
            List.of("gpu", "long"),
            "constraint",
            "ib",
            "exclusive",
            true,
            "gpus",
            Json.object("style", "gpus", "names", Json.object("BIG", "a100_80gb")),
            "time",
            Json.object("default", 7200),
            "cpus",
            4,
            "memory",
            "10G",
            "native",
            List.of("--mail-type=END"));

    assertEquals(
        List.of(
            "--nodes=2",
            "--ntasks-per-node=1",
            "--time=120",
            "--gpus-per-node=a100_80gb:2",
            "--constraint=ib",
            "--partition=gpu,long",
            "--cpus-per-task=4",
            "--mem=10G",
            "--account=lab",
            "--qos=high",
            "--exclusive",
            "--mail-type=END"),
        fits(2, "BIG:2").options());
  }

  @Test
  void gpusWithoutTypesAreToldApartByFeatureOrPartition() {
    partition("gpu", true, DAY, 99);
    nodes(2, "gpu", "gpu:4", "ib", "h100-sxm");

    JobShape byFeature = fits(2, "H100:4");

    assertTrue(byFeature.options().containsAll(List.of("--gres=gpu:4", "--constraint=h100-sxm")));

    partitions.clear();
    nodes.clear();
    partition("v100-short", false, DAY, 99);
    partition("h100-short", false, DAY, 99);
    nodes(1, "v100-short", "gpu:4");
    nodes(3, "h100-short", "gpu:4");
    JobShape byPartition = fits(2, "H100:4");
    assertTrue(byPartition.options().contains("--partition=h100-short"), byPartition::toString);
  }

  @Test
  void whoeverCouldMeanSeveralSaysWhich() {
    partition("gpu", true, DAY, 99);
    nodes(1, "gpu", "gpu:a100_40gb:4,gpu:a100_80gb:4");

    JobShaping.Result.Hopeless which = hopeless(1, "A100:2");

    assertTrue(which.reason().contains("a100_40gb, a100_80gb"), which::reason);
    assertEquals("--nodes 1 --gpus a100_40gb:2", which.works().getFirst());
    assertEquals("a100_80gb", fits(1, "A100-80GB:2").gpuModel());
  }

  @Test
  void whatCanNeverBeIsSaidWithWhatWould() {
    partition("gpu", true, DAY, 3);
    nodes(4, "gpu", "gpu:h100:8");

    assertEquals(List.of("--nodes 3 --gpus H100:8"), hopeless(4, "H100:8").works());
    assertEquals(List.of("--nodes 1 --gpus H100:8"), hopeless(1, "H100:9").works());
    JobShaping.Result.Hopeless model = hopeless(1, "B200:8");
    assertEquals("there is no B200 in the usable partitions; there are h100", model.reason());
    assertEquals(List.of("--nodes 1 --gpus h100:8"), model.works());
    settings = Json.object("partition", List.of("gpux"));
    assertTrue(hopeless(1, "8").reason().contains("gpux"));
    settings = Json.object();
    var tooLong =
        assertInstanceOf(
            JobShaping.Result.Hopeless.class, result(1, "8", Optional.of(Duration.ofHours(48))));
    assertEquals("partition gpu allows at most 1d", tooLong.reason());
    assertEquals(List.of("--for 23h58m"), tooLong.works());
  }

  @Test
  void theHardEndLeavesTimeToLetGo() {
    partition("gpu", true, DAY, 99);
    nodes(1, "gpu", "gpu:8");

    var shape =
        assertInstanceOf(
                JobShaping.Result.Fits.class, result(1, "8", Optional.of(Duration.ofHours(2))))
            .shape();

    assertTrue(shape.options().contains("--time=122"), shape::toString);
    assertEquals(Duration.ofHours(2), shape.hardEnd());
  }
}
