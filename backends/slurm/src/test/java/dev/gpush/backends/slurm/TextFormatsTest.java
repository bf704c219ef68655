package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.GangTag;
import dev.gpush.backends.slurm.cluster.Gres;
import dev.gpush.backends.slurm.cluster.HostList;
import dev.gpush.backends.slurm.cluster.Partition;
import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.backends.slurm.cluster.SlurmNode;
import dev.gpush.backends.slurm.cluster.SlurmTime;
import dev.gpush.backends.slurm.cluster.WaitReason;
import dev.gpush.backends.slurm.command.GangAgents;
import dev.gpush.backends.slurm.command.SbatchRefusal;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What Slurm prints, of releases that the rig does not have too. */
final class TextFormatsTest {
  static String golden(String release) throws Exception {
    try (InputStream in =
        TextFormatsTest.class.getResourceAsStream("/golden/slurm/" + release + ".txt")) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  static List<SlurmJob> jobs(String release) throws Exception {
    return SlurmJob.parse(golden(release).replace("|", "\u001f"));
  }

  @Test
  void nodesOfEveryRelease() throws Exception {
    List<SlurmNode> old = SlurmNode.parse(golden("21.08"));
    assertEquals(List.of("g01", "g02"), old.stream().map(SlurmNode::name).toList());
    assertEquals("10.0.0.1", old.getFirst().address());
    assertEquals(List.of(new Gres("", 4)), old.getFirst().gpus());
    assertEquals(List.of(new Gres("", 2)), old.getFirst().used());
    assertEquals(64, old.getFirst().cpus());
    assertEquals(512_000, old.getFirst().memory());
    assertEquals(Set.of("batch", "debug"), old.getFirst().partitions());
    assertTrue(old.getFirst().isInService());
    assertFalse(old.getLast().isInService());

    SlurmNode rig = SlurmNode.parse(golden("22.05")).getFirst();
    assertEquals(List.of(new Gres("h100", 8)), rig.gpus());
    assertEquals(List.of(new Gres("h100", 2)), rig.used());

    List<SlurmNode> late = SlurmNode.parse(golden("24.11"));
    assertEquals(List.of(new Gres("nvidia_h100_80gb_hbm3", 8)), late.getFirst().gpus());
    assertEquals(188, late.getFirst().cpus(), "without those that are reserved for the system");
    assertEquals("hgx-001.cluster.internal", late.getFirst().address());
    assertEquals(Set.of("IDLE", "CLOUD", "POWERED_DOWN"), late.getFirst().states());
    assertTrue(late.getFirst().isInService());
  }

  @Test
  void partitionsOfEveryRelease() throws Exception {
    assertEquals(
        new Partition(
            "batch",
            true,
            "UP",
            Optional.of(Duration.ofDays(7)),
            Optional.of(Duration.ofHours(1)),
            4,
            Duration.ZERO),
        Partition.parse(golden("21.08")).getFirst());
    assertEquals(
        new Partition(
            "gpu",
            true,
            "UP",
            Optional.of(Duration.ofDays(2)),
            Optional.empty(),
            Integer.MAX_VALUE,
            Duration.ZERO),
        Partition.parse(golden("22.05")).getFirst());
    assertEquals(
        new Partition(
            "h100",
            false,
            "UP",
            Optional.empty(),
            Optional.of(Duration.ofHours(8)),
            64,
            Duration.ofMinutes(2)),
        Partition.parse(golden("24.11")).getFirst());
  }

  @Test
  void jobsOfEveryRelease() throws Exception {
    SlurmJob waits = jobs("21.08").getFirst();
    assertEquals(4711, waits.id());
    assertTrue(waits.isWaiting());
    assertEquals("ReqNodeNotAvail, UnavailableNodes:g02", waits.status().reason());
    SlurmJob runs = jobs("22.05").getFirst();
    assertTrue(runs.isRunning());
    assertEquals(
        Optional.of(Duration.ofDays(2).minusSeconds(1)), SlurmTime.span(runs.times().left()));
    SlurmJob boots = jobs("24.11").getFirst();
    assertFalse(boots.isWaiting() || boots.isRunning() || boots.hasEnded());
    assertEquals(List.of("hgx-001", "hgx-003"), HostList.expand(boots.nodes()));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "7 | 1",
        "7_12 | 1",
        "7+0 | 0",
        "7+1 | 0",
        "7_[3] | 1",
        "7_[1-3] | 3",
        "7_[1-5000%50] | 5000",
        "7_[0-10:2,20,30-31] | 9",
        "7_[1-3,5,... | 4",
        "7_[x] | 1",
      })
  void anArrayThatWaitsIsAllItsTasks(String id, long tasks) {
    String line =
        String.join("\u001f", id, "x", "u", "PENDING", "", "gpu", "", "", "", "9", "1", "", "");

    SlurmJob job = SlurmJob.parseAll(line).getFirst();

    assertEquals(7, job.id());
    assertEquals(tasks, job.size().tasks());
    assertEquals(id.equals("7") ? List.of(job) : List.of(), SlurmJob.parse(line));
  }

  @Test
  void linesThatAreNoJobsArePassedOver() {
    String array =
        String.join("\u001f", "7_[1-3]", "x", "u", "PENDING", "", "", "", "", "", "", "", "", "");
    String text = "CLUSTER: a\n\nWelcome to HPC!\n" + array + "\n";
    assertEquals(List.of(), SlurmJob.parse(text));
    assertEquals(1, SlurmJob.parseAll(text).size());
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "login | login",
        "gpu[1-3] | gpu1 gpu2 gpu3",
        "gpu[08-11,20] | gpu08 gpu09 gpu10 gpu11 gpu20",
        "a,b[1-2]c,d | a b1c b2c d",
        "r[1-2]n[03-04] | r1n03 r1n04 r2n03 r2n04",
        "n[a-b] | n[a-b]",
        "n[3-1] | n[3-1]",
        "n[1 | n[1",
        "(null) | ''",
      })
  void expandsHosts(String text, String hosts) {
    assertEquals(hosts, String.join(" ", HostList.expand(text)));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "2-00:00:00 | PT48H",
        "1:00:00 | PT1H",
        "9:59 | PT9M59S",
        "365-00:00:00 | PT8760H",
        "UNLIMITED | none",
        "NONE | none",
        "INVALID | none",
        "1-1 | PT25H",
        "30 | PT30M",
      })
  void readsTimes(String text, String time) {
    assertEquals(time, SlurmTime.span(text).map(Duration::toString).orElse("none"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      value = {
        "gpu:8 | ':8'",
        "gpu:h100:8(S:0-1) | h100:8",
        "gpu:(null):2(IDX:0,3) | ':2'",
        "gpu:3090:8(S:0-1) | 3090:8",
        "gpu:2080:4(IDX:0-3),gpu:2 | 2080:4 :2",
        "gpu:a100:4,gpu:t4:2,shard:8,craynetwork:1 | a100:4 t4:2",
        "gpu:a100_3g.20gb:2(S:0),tmpdisk:3G | a100_3g.20gb:2",
        "(null) | ''",
        "gpu: | ''",
      })
  void readsGpus(String text, String gpus) {
    assertEquals(
        gpus,
        String.join(
            " ", Gres.parse(text).stream().map(each -> each.type() + ":" + each.count()).toList()));
  }

  @Test
  void whatNobodyWroteIsHarmless() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("TextFormatsTest: gpush.seed=" + seed);
    var random = new Random(seed);
    String letters = "NodeName= JobId=1\u001f[]-(),:gpu123\n|*+~é";
    for (int i = 0; i < 2_000; i++) {
      var text = new StringBuilder();
      for (int size = random.nextInt(80); size > 0; size--) {
        text.append(letters.charAt(random.nextInt(letters.length())));
      }
      String noise = text.toString();
      SlurmNode.parse("NodeName=" + noise);
      Partition.parse("PartitionName=" + noise);
      SlurmJob.parse(noise);
      HostList.expand(noise);
      Gres.parse(noise);
      JobTag.parse(noise);
      WaitReason.of(noise);
      SbatchRefusal.of(noise);
      GangAgents.answers(noise, 2, "");
    }
  }

  @Test
  void aTagIsReadAsItWasWritten() {
    var tag =
        new JobTag(
            new GangTag(new Requester("ann@lab", "a b=c%", "my box", "prö j"), 2, 8, "h100", 16),
            "/scratch/a b/gpush/1");

    assertEquals(Optional.of(tag), JobTag.parse(tag.text()));
    assertTrue(tag.text().matches("[\\x20-\\x7e]+"), tag::text);
    assertEquals("/scratch/a b/gpush/1/1/prö j", tag.workspace(1));
    assertEquals(Optional.empty(), JobTag.parse("changed by the site"));
    assertEquals(Optional.empty(), JobTag.parse("gpush/1 owner=x nodes=2 under=relative"));
    assertEquals(Optional.empty(), JobTag.parse("gpush/1 owner=x nodes=99999 under=/x"));
  }

  @Test
  void answersOfManyNodesAreToldApart() {
    String pre = "0123456789abcdef0123456789abcdef";
    String said =
        " 0: noise\n 0: "
            + pre
            + "{\"ok\":\n 0: true}\n10: gpush-exit:94\n 0: gpush-exit:0\n1: "
            + pre
            + "{\"ok\":false}\n1: gpush-exit:0\n";

    var answers = GangAgents.answers(said, 11, "srun said no");

    assertEquals(true, ((AgentAnswer.Said) answers.get(0)).json().flag("ok"));
    assertEquals(false, ((AgentAnswer.Said) answers.get(1)).json().flag("ok"));
    assertEquals(new AgentAnswer.NoAgent(), answers.get(10));
    assertEquals(new AgentAnswer.Silent("srun said no"), answers.get(2));
  }

  /** srun cuts lines without regard to characters of several bytes. */
  @Test
  void anAnswerThatIsCutWithinACharacterIsWhole() {
    byte[] name = "Åsa".getBytes(StandardCharsets.UTF_8);
    String cut = (char) (name[0] & 0xff) + "\n0: " + (char) (name[1] & 0xff) + "sa";
    String said =
        "0: 0123456789abcdef0123456789abcdef{\"name\":\"" + cut + "\"}\n0: gpush-exit:0\n";

    var answers = GangAgents.answers(said, 1, "");

    assertEquals(new AgentAnswer.Said(Json.object("name", "Åsa")), answers.get(0));
  }
}
