package dev.gpush.fabric;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.json.Json;
import dev.gpush.launch.fabric.rule.FabricPlanner;
import dev.gpush.shell.render.PlanText;
import dev.gpush.templates.YamlRecipes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The plan of every recorded gang, as {@code gpush check --plan} prints it, in {@code
 * src/test/resources/golden/plan}. The gangs lie in launch's test resources, where the agent's
 * tests write them, and beside the goldens in {@code gangs/}, for what no agent would say. A gang's
 * "env" are variables of its user. {@code -Dgpush.golden=write} writes the goldens again.
 */
final class PlanGoldenTest {
  /** Surefire starts in src/test. */
  private static final Path RECORDED =
      Path.of("../../launch/src/test/resources/dev/gpush/launch/fabric");

  private static final Path GOLDEN = Path.of("resources/golden/plan");
  private static final Path WRITTEN = GOLDEN.resolve("gangs");

  private static final FabricPlanner PLANNER = new FabricPlanner(new YamlRecipes());

  static List<Path> gangs() throws IOException {
    var gangs = new ArrayList<Path>();
    for (Path folder : List.of(RECORDED, WRITTEN)) {
      try (Stream<Path> files = Files.list(folder)) {
        files.filter(file -> file.toString().endsWith(".json")).sorted().forEach(gangs::add);
      }
    }
    return gangs;
  }

  @ParameterizedTest
  @MethodSource("gangs")
  void planIsAsItWasRead(Path gang) throws IOException {
    Json json = Json.parse(Files.readString(gang));
    FabricPlan plan = PLANNER.plan(json, environment(json));
    String title = json.text("title").map(text -> "# " + text + "\n\n").orElse("");
    String text = title + PlanText.of(plan, 0);
    Path golden = GOLDEN.resolve(name(gang) + ".txt");

    if ("write".equals(System.getProperty("gpush.golden"))) {
      Files.writeString(golden, text);
    }

    assertEquals(Files.readString(golden), text);
    assertEquals(plan, FabricPlan.read(Json.parse(plan.json().write())));
  }

  /** On a screen of 80 columns. */
  @Test
  void theExampleOfHelpIsARealPlan() throws IOException {
    Json gang = Json.parse(Files.readString(WRITTEN.resolve("help-example.json")));

    String text = PlanText.of(PLANNER.plan(gang, List.of()), 80);

    String help = Files.readString(Path.of("resources/golden/help/check.txt"));
    assertTrue(help.contains(text.strip().indent(2).replace("\n  \n", "\n\n")), text);
  }

  @Test
  void noGoldenIsLeftOver() throws IOException {
    try (Stream<Path> files = Files.list(GOLDEN)) {
      var found = new TreeSet<String>();
      files
          .filter(file -> file.toString().endsWith(".txt"))
          .forEach(file -> found.add(String.valueOf(file.getFileName())));
      var expected = new TreeSet<String>();
      gangs().forEach(gang -> expected.add(name(gang) + ".txt"));

      assertEquals(expected, found);
      assertTrue(found.size() >= 18, found::toString);
    }
  }

  private static List<UserVariable> environment(Json gang) {
    return gang.object("env").textMap().entrySet().stream()
        .map(each -> new UserVariable(each.getKey(), each.getValue(), "gpush.yaml:4"))
        .toList();
  }

  private static String name(Path gang) {
    return String.valueOf(gang.getFileName()).replaceFirst("\\.json$", "");
  }
}
