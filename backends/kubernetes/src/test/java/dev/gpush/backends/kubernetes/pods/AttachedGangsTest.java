package dev.gpush.backends.kubernetes.pods;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.KubernetesPlace;
import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Loan;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.contract.Ended;
import dev.gpush.testkit.rig.KubernetesRig;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Pods that somebody else runs, on a real cluster: they stay as they were. */
@ResourceLock(KubernetesRig.GANGS)
@Tag("kubernetes")
final class AttachedGangsTest {
  private static KubernetesPlace place() throws Exception {
    return KubernetesPlace.of("gangs");
  }

  private static void begin(KubernetesPlace place, String name, int pods, String image)
      throws Exception {
    place.rig().begin(place.namespace(), name, pods, 8, image);
  }

  private static String pods(KubernetesPlace place) throws Exception {
    return place.rig().pods(place.namespace());
  }

  private static GangRequest asking(KubernetesPlace place, Loan loan, String name) {
    GangRequest any = place.request(loan.nodes(), BackendContract.LONG);
    return GangRequest.of(any.gang(), any.requester(), loan.nodes(), loan.gpus(), any.lease())
        .with(any.variables())
        .with(
            new GangRequest.Options(
                List.of(), Optional.empty(), Optional.of(name), GangRequest.Data.NONE));
  }

  private static Loan loan(KubernetesPlace place, String name) {
    return place.backend().capabilities().lending().orElseThrow().lend(name);
  }

  private static String said(KubernetesPlace place, Gang gang, int node, String command)
      throws Exception {
    Ended ended =
        Ended.of(place.backend().spawn(gang, node, List.of("sh", "-c", command)), new byte[0]);
    return ended.output().strip();
  }

  @Test
  void podsOfAJobAreBorrowedAndStayAsTheyWere() throws Exception {
    try (KubernetesPlace place = place()) {
      begin(place, "train", 2, KubernetesRig.IMAGE);
      String before = pods(place);

      Loan loan = loan(place, "job/train");
      assertEquals(new Loan(2, GpuRequest.parse("H100:8")), loan);
      GangRequest request = asking(place, loan, "job/train");
      Gang gang = place.backend().reserve(request);

      assertTrue(gang.isBorrowed());
      assertEquals("pods of job/train in " + place.namespace(), gang.detail());
      assertEquals(List.of(8, 8), gang.nodes().stream().map(each -> each.slots().size()).toList());
      assertTrue(gang.nodes().getFirst().host().startsWith("train-0-"), gang::toString);
      assertEquals(gang, Gang.from(gang.json()));
      assertEquals("trainer", said(place, gang, 1, "echo $ROLE"));
      assertInstanceOf(Observation.Exists.class, place.again().observe(gang));
      assertEquals(gang, place.again().reserve(request), "asked again it is the same");
      place.backend().renew(gang, new LeaseTerms(Optional.empty(), Duration.ofMinutes(5)));

      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));

      assertInstanceOf(Observation.Gone.class, place.backend().observe(gang));
      assertEquals("", said(place, gang, 0, "ps -ef | grep '[g]push_agent'"));
      assertEquals(before, pods(place));
      assertEquals(List.of(), place.leftovers());
    }
  }

  @Test
  void aContainerThatBeginsAgainIsLostAndTheRestIsNot() throws Exception {
    try (KubernetesPlace place = place()) {
      begin(place, "train", 2, KubernetesRig.IMAGE);
      Gang gang = place.backend().reserve(asking(place, loan(place, "job/train"), "job/train"));

      // Its status says little: the end of the container kills it too.
      place
          .rig()
          .tried(
              "-n",
              place.namespace(),
              "exec",
              gang.nodes().get(1).host(),
              "--",
              "kill",
              "-TERM",
              "1");
      KubernetesPlace.until(() -> place.backend().observe(gang) instanceof Observation.Partly);

      Observation.Partly seen =
          assertInstanceOf(Observation.Partly.class, place.backend().observe(gang));
      assertEquals(List.of(1), seen.lost());
      place.kubectl("delete", "job", "train", "--wait=true");
      KubernetesPlace.until(() -> place.backend().observe(gang) instanceof Observation.Gone);
      assertEquals(List.of(), place.backend().release(gang, BackendContract.LIMIT));
    }
  }

  @Test
  void podsAreFoundByWhatPeopleCallThem() throws Exception {
    try (KubernetesPlace place = place()) {
      begin(place, "train", 2, KubernetesRig.IMAGE);
      String first = place.kubectl("get", "pods", "-o", "jsonpath={.items[0].metadata.name}");

      assertEquals(1, loan(place, "pod/" + first).nodes());
      assertEquals(2, loan(place, "job-name=train").nodes());
      place.kubectl("label", "pods", "--all", "jobset.sigs.k8s.io/jobset-name=llama");
      assertEquals(2, loan(place, "trainjob/llama").nodes());

      assertEquals(
          "there is no pod of job/other in " + place.namespace(), none(place, "job/other"));
      assertTrue(none(place, "cronjob/train").contains("is not a name of pods"));
      assertTrue(none(place, "job/../secrets").contains("is not a name of pods"));
      Gang own = place.backend().reserve(place.request(1, BackendContract.LONG));
      assertTrue(none(place, PodTag.selector(own.id())).contains("is gpush's own"));
      place.backend().release(own, BackendContract.LIMIT);
    }
  }

  private static String none(KubernetesPlace place, String name) {
    return assertInstanceOf(
            BackendFailure.NeverFits.class,
            assertThrows(GpushException.class, () -> loan(place, name)).failure())
        .reason();
  }

  @Test
  void withoutPythonInOneOfThemNoAgentIsLeftInTheOthers() throws Exception {
    try (KubernetesPlace place = place()) {
      begin(place, "train", 1, KubernetesRig.IMAGE);
      begin(place, "bare", 1, KubernetesRig.BARE_IMAGE);
      place.kubectl("label", "pods", "--all", "team=nlp");

      GangRequest request = asking(place, loan(place, "team=nlp"), "team=nlp");
      BackendFailure.ReserveFailed failure =
          assertInstanceOf(
              BackendFailure.ReserveFailed.class,
              assertThrows(GpushException.class, () -> place.backend().reserve(request)).failure());

      assertTrue(
          failure.reason().contains("has no Python that the agent can use"), failure::reason);
      String train = place.kubectl("get", "pods", "-l", "job-name=train", "-o", "name");
      String left = place.kubectl("exec", train, "--", "ps", "-ef");
      assertFalse(left.contains("python"), left);
      assertEquals(
          List.of(),
          place.backend().discover(BackendPlace.OWNER).stream()
              .flatMap(each -> each.gang().nodes().stream())
              .map(NodeInfo::host)
              .toList());
    }
  }
}
