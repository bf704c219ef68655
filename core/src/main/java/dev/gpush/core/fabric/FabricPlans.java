package dev.gpush.core.fabric;

import dev.gpush.core.json.Json;
import java.util.List;

/** Makes plans. A pure function of what it is given and of the recipes. */
public interface FabricPlans {
  /**
   * The plan of a gang.
   *
   * @param gang a list with the facts of each node, as the agents give them; facts that are missing
   *     or make no sense leave NCCL alone and are named in the plan
   * @param environment what the user set, the strongest last
   */
  FabricPlan plan(Json gang, List<UserVariable> environment);

  /**
   * A variable that the user set.
   *
   * @param origin where: {@code gpush.yaml:7}, {@code --env}
   */
  record UserVariable(String name, String value, String origin) {}
}
