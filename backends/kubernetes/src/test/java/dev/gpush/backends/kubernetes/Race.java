package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.kubernetes.cluster.PodTag;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.contract.BackendContract;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Two gangs at once where there is room for one: one gets all, the other waits with a reason and
 * holds nothing, and has its turn when the first is given back.
 *
 * @param nodes of each gang
 * @param why what is said to the one that waits, a part of it
 */
record Race(KubernetesPlace place, int nodes, String why) {
  /** Seconds for as many rounds as the long profile takes, on a busy machine. */
  static final int LONGEST = 3600;

  void run(int rounds) throws Exception {
    try (Tasks tasks = Tasks.named("race", (_, _) -> {})) {
      for (int round = 0; round < rounds; round++) {
        round(tasks);
      }
    }
  }

  private void round(Tasks tasks) throws Exception {
    GangRequest one = place.request(nodes, BackendContract.LONG);
    GangRequest two = place.request(nodes, BackendContract.LONG);
    var granted = new LinkedBlockingQueue<Gang>();
    var heard = new LinkedBlockingQueue<String>();
    for (GangRequest request : List.of(one, two)) {
      KubernetesBackend backend = request == one ? place.backend() : place.again();
      tasks.fork("gang", () -> granted.add(backend.reserve(request, heard::add)));
    }

    Gang first = granted.poll(BackendContract.LIMIT.toSeconds(), TimeUnit.SECONDS);
    assertTrue(first != null, heard::toString);
    GangRequest other = first.id().equals(one.gang()) ? two : one;
    KubernetesPlace.until(
        () -> heard.stream().anyMatch(word -> word.contains(why)), heard::toString);
    assertEquals("", placed(PodTag.GANG_LABEL + "!=" + first.id().text()));
    assertEquals(List.of(), place.backend().release(first, BackendContract.LIMIT));
    Gang second = granted.poll(BackendContract.LIMIT.toSeconds(), TimeUnit.SECONDS);

    assertTrue(second != null, heard::toString);
    assertEquals(other.gang(), second.id());
    assertEquals(List.of(), place.backend().release(second, BackendContract.LIMIT));
    assertEquals(List.of(), place.leftovers());
  }

  /** The nodes of these pods, whoever made them. */
  private String placed(String pods) throws Exception {
    return place.kubectl("get", "pods", "-l", pods, "-o", "jsonpath={.items[*].spec.nodeName}");
  }
}
