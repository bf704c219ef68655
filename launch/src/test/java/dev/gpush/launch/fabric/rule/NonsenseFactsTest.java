package dev.gpush.launch.fabric.rule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Facts of which any part is replaced by something else still give a plan. */
final class NonsenseFactsTest {
  private static final int ROUNDS = 1000;

  /** Of ten values one is replaced. */
  private static final int ONE_IN = 10;

  private static final List<Json> NONSENSE =
      List.of(
          new Json.Null(),
          Json.of(true),
          Json.of(-1),
          Json.of(Long.MIN_VALUE),
          Json.of(Long.MAX_VALUE),
          new Json.Real(1e300),
          new Json.Real(-0.5),
          Json.of(""),
          Json.of("../../etc/passwd"),
          Json.of("eth0,eth1 =^\u001b[31m\n"),
          Json.of("x".repeat(5000)),
          Json.array(List.of()),
          Json.array(List.of(1, "two", Json.object("three", 3))),
          Json.object(),
          Json.object("name", Json.object("name", "name")));

  @Test
  void anyFactsGiveAPlan() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    var random = new Random(seed);
    for (int round = 0; round < ROUNDS; round++) {
      Json gang = broken(random.nextBoolean() ? Gangs.twoWithRails() : roce(), random);
      String said = "-Dgpush.seed=" + seed + ", round " + round + ": " + gang.write();
      FabricPlan plan = plan(gang, said);

      assertEquals(plan, FabricPlan.read(Json.parse(plan.json().write())), said);
      for (int node = 0; node < plan.nodes(); node++) {
        plan.exported(node)
            .forEach(
                (name, value) -> assertTrue(value.matches("=?[A-Za-z0-9_.:@,-]{1,600}"), said));
      }
      long notes = plan.findings().stream().filter(each -> each.kind().equals("facts")).count();
      assertTrue(notes <= 1, said);
    }
  }

  private static FabricPlan plan(Json gang, String said) {
    try {
      return new FabricPlanner(List::of)
          .plan(gang, List.of(new UserVariable("NCCL_IB_HCA", "=mlx5_0", "--env")));
    } catch (RuntimeException thrown) {
      throw new AssertionError(said, thrown);
    }
  }

  private static Json roce() {
    Json gang = Gangs.two();
    for (int node = 0; node < 2; node++) {
      gang = Gangs.with(gang, node, "rdma", List.of(Gangs.roce("mlx5_0", 3)));
      gang = Gangs.with(gang, node, "python", Json.object("nccl", "2.18.1", "torch", "2.1.0"));
      gang = Gangs.with(gang, node, "environment", Json.object("image", Json.object()));
    }
    return gang;
  }

  private static Json broken(Json json, Random random) {
    if (random.nextInt(ONE_IN) == 0) {
      return NONSENSE.get(random.nextInt(NONSENSE.size()));
    }
    return switch (json) {
      case Json.Arr(var items) -> {
        var others = new ArrayList<Json>();
        items.forEach(item -> others.add(broken(item, random)));
        yield new Json.Arr(others);
      }
      case Json.Obj(var fields) -> {
        var others = new LinkedHashMap<String, Json>();
        fields.forEach(
            (key, value) -> {
              if (random.nextInt(ONE_IN) > 0) {
                others.put(key, broken(value, random));
              }
            });
        yield new Json.Obj(others);
      }
      case Json.Null _, Json.Bool _, Json.Int _, Json.Real _, Json.Text _ -> json;
    };
  }
}
