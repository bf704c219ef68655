package dev.gpush.launch.check;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.fabric.BusRate;
import dev.gpush.core.fabric.FabricRate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class CollectiveRuleTest {
  /** Of one rank each, a pair's bus bandwidth is its bytes per second. */
  private static final double GBIT = 1e9 / 8;

  private static CollectiveRule rule(int nodes) {
    return new CollectiveRule(Collections.nCopies(nodes, 1), Optional.empty(), false);
  }

  /**
   * Nodes whose pairs are as fast as the slower of the two.
   *
   * @param whole what all together reach, in Gbit/s of bytes per second
   */
  private static List<CollectiveReply> gang(double whole, List<Double> gbits, List<Double> alone) {
    var replies = new ArrayList<CollectiveReply>();
    for (int node = 0; node < gbits.size(); node++) {
      var pairs = new TreeMap<Integer, Double>();
      for (int other = 0; other < gbits.size(); other++) {
        if (other != node) {
          pairs.put(other, Math.min(gbits.get(node), gbits.get(other)) * GBIT);
        }
      }
      replies.add(
          new CollectiveReply.Measured(
              Map.of(1L << 20, (1 << 20) / (whole * GBIT)), pairs, alone.get(node)));
    }
    return replies;
  }

  private static List<CollectiveReply> gang(double whole, Double... gbits) {
    return gang(whole, List.of(gbits), Collections.nCopies(gbits.length, 0.001));
  }

  private static List<String> findings(CollectiveRule rule, List<CollectiveReply> replies) {
    return rule.findings(replies).stream()
        .map(
            each ->
                each.severity().word()
                    + " "
                    + each.kind()
                    + " "
                    + each.what()
                    + "; "
                    + each.remedy())
        .toList();
  }

  @Test
  void oneRankHasNoRate() {
    assertEquals(List.of(), rule(1).rates(gang(9.0, 10.0)));
    assertEquals(List.of(), findings(rule(1), gang(9.0, 10.0)));
  }

  @Test
  void equalNodesHaveNoFindings() {
    assertEquals(List.of(), findings(rule(4), gang(9.0, 10.0, 9.5, 10.5, 8.0)));
  }

  @Test
  void oneSlowNodeIsNamedWithItsNetwork() {
    assertEquals(
        List.of(
            "refused slow-node node 2 is slow: 0.4 Gbit/s at best with nodes 0, 1, 3, where nodes"
                + " usually reach 10 Gbit/s; it computes as fast as the others, so its network is"
                + " slow: see its ports and cables (gpush check --plan), or leave it out"),
        findings(rule(4), gang(0.4, 10.0, 10.0, 0.4, 10.0)));
  }

  @Test
  void oneSlowNodeIsNamedWithItsProcessors() {
    assertEquals(
        List.of(
            "refused slow-node node 1 is slow: 2.0 Gbit/s at best with nodes 0, 2, where nodes"
                + " usually reach 10 Gbit/s; it computes slower than the others too: see what else"
                + " runs there (gpush exec --on 1 top -b -n 1), and whether its GPUs or processors"
                + " are throttled"),
        findings(rule(3), gang(2.0, List.of(10.0, 2.0, 10.0), List.of(0.001, 0.009, 0.001))));
  }

  @Test
  void twoSlowNodesOfFiveAreBothNamed() {
    assertEquals(2, findings(rule(5), gang(1.0, 10.0, 1.0, 10.0, 2.0, 10.0)).size());
  }

  @Test
  void onePairThatIsSlowNamesNoNode() {
    List<CollectiveReply> replies = new ArrayList<>(gang(9.0, 10.0, 10.0, 10.0));
    var first = (CollectiveReply.Measured) replies.get(0);
    var pairs = new TreeMap<>(first.pairs());
    pairs.put(1, 0.1 * GBIT);
    replies.set(0, new CollectiveReply.Measured(first.sizes(), pairs, first.alone()));

    assertEquals(List.of(), findings(rule(3), replies));
  }

  @Test
  void ofTwoNodesOnlyTheirOwnArithmeticTells() {
    assertEquals(
        List.of(), findings(rule(2), gang(1.0, List.of(1.0, 1.0), List.of(0.001, 0.0015))));
    assertEquals(
        "refused slow-node node 1 is slow: it computes 5 times slower than node 0",
        findings(rule(2), gang(1.0, List.of(1.0, 1.0), List.of(0.001, 0.005)))
            .getFirst()
            .split(";")[0]);
  }

  @Test
  void aGangThatIsSlowerThanItsPairsIsAWarningOfAll() {
    assertEquals(
        "warning slow-gang all nodes together reach 3.0 Gbit/s, pairs of them 10 Gbit/s",
        findings(rule(4), gang(2.0, 10.0, 10.0, 10.0, 10.0)).getFirst().split(";")[0]);
    var oneMachine = new CollectiveRule(Collections.nCopies(4, 1), Optional.empty(), true);
    assertEquals(List.of(), findings(oneMachine, gang(2.0, 10.0, 10.0, 10.0, 10.0)));
  }

  @Test
  void railsThatAreHalfEmptyAreAWarning() {
    var rails = Optional.of(new FabricRate(100, true));
    var socket = Optional.of(new FabricRate(100, false));

    assertEquals(
        "warning slow-gang the nodes reach 30 Gbit/s of the 100 Gbit/s that their rails carry",
        findings(new CollectiveRule(List.of(1, 1), rails, false), gang(30.0, 30.0, 30.0))
            .getFirst()
            .split(";")[0]);
    assertEquals(
        List.of(),
        findings(new CollectiveRule(List.of(1, 1), socket, false), gang(30.0, 30.0, 30.0)));
  }

  @Test
  void theRankWithAReasonOfItsOwnIsNamedAlone() {
    assertEquals(
        List.of("node 1: all_reduce failed: ModuleNotFoundError: No module named 'torch'"),
        rule(2)
            .findings(
                List.of(
                    new CollectiveReply.Broken("RuntimeError: Connection closed by peer"),
                    new CollectiveReply.Broken("ModuleNotFoundError: No module named 'torch'")))
            .stream()
            .map(each -> each.what())
            .toList());
    assertEquals(
        2,
        rule(2)
            .findings(
                List.of(
                    new CollectiveReply.Broken("not done after 120 s"),
                    new CollectiveReply.Broken("not done after 120 s")))
            .size());
  }

  @Test
  void busBandwidthIsOfTheSlowestNode() {
    List<CollectiveReply> replies =
        List.of(
            CollectiveReply.read(
                "gpush-collective {\"sizes\": [{\"bytes\": 1000000, \"seconds\": 0.001}],"
                    + " \"pairs\": [], \"alone\": 0.1}"),
            CollectiveReply.read(
                "gpush-collective {\"sizes\": [{\"bytes\": 1000000, \"seconds\": 0.002}],"
                    + " \"pairs\": [], \"alone\": 0.1}"));
    var four = new CollectiveRule(List.of(2, 2), Optional.empty(), false);

    assertEquals(List.of(new BusRate(1_000_000, 6.0)), four.rates(replies));
  }

  @Test
  void nonsenseIsAFailureWithAReason() {
    for (String output :
        List.of("", "gpush-collective {", "gpush-collective {}", "gpush-collective 7")) {
      assertEquals(CollectiveReply.Broken.class, CollectiveReply.read(output).getClass(), output);
    }
  }
}
