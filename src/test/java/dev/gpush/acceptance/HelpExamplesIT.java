package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.fixture.FolderTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * The example of every command's help, as {@code gpush help} prints it, is typed in a world where a
 * user would type it, and works.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("local")
final class HelpExamplesIT {
  /** The run that the examples speak of. */
  private static final int RUN = 7;

  @Test
  void everyExampleWorks() throws Exception {
    Optional<String> torch = Ranks.torch();
    try (World world = World.fresh(torch.map(HelpExamplesIT::first).orElse(Map.of()))) {
      Files.createDirectories(world.home());
      Files.writeString(
          world.home().resolve("config.yaml"),
          "defaults: {backends: [local]}\nbackends: {rack: {kind: local}}\n");
      world.file(
          "gang.json",
          Files.readString(
              World.repository()
                  .resolve("src/test/resources/golden/plan/gangs/help-example.json")));
      world.file("train.py", "import sys\nprint('step', sys.argv[1:])\n");
      Map<String, String> examples = examples(world);
      var typed = new TreeSet<String>();

      for (String verb :
          List.of(
              "help", "version", "completion", "backends", "config", "doctor", "login", "check")) {
        works(world, examples, typed, verb);
      }
      String template = works(world, examples, typed, "templates").out();
      assertTrue(template.isEmpty(), "it goes to the file");
      Path elsewhere = elsewhere(world);
      assertTrue(Files.readString(elsewhere.resolve("gpush.yaml")).contains("nodes:"));
      // It looks for places in the home of the user, who here has none.
      examples.computeIfPresent("init", (_, line) -> "HOME='" + elsewhere + "' " + line);
      works(world, examples, typed, "init");
      works(world, examples, typed, "up");
      // The user's own ssh configuration is that of whoever tests: it is shown, not written.
      examples.merge("link", " --print", String::concat);
      assertTrue(works(world, examples, typed, "link").out().contains("Host devbox"));
      for (String verb :
          List.of(
              "ps", "nodes", "sync", "exec", "ssh", "extend", "run", "runs", "code", "forward")) {
        works(world, examples, typed, verb);
      }
      if (torch.isPresent()) {
        works(world, examples, typed, "jupyter");
      } else {
        System.out.println("HelpExamplesIT: no jupyter, because there is no torch rig");
        examples.remove("jupyter");
      }
      String there = world.json("nodes", "--json").items().get(1).text("workspace").orElseThrow();
      Files.writeString(Path.of(there).resolve("notes.txt"), "1\n");
      world.file("ckpt/step-900.pt", "1\n");
      works(world, examples, typed, "cp");
      works(world, examples, typed, "pull");
      assertEquals("1\n", Files.readString(world.project().resolve("notes.txt")));
      runs(world, 2, RUN, "true");
      works(world, examples, typed, "logs");
      works(world, examples, typed, "gateway");
      works(world, examples, typed, "down");

      world.gpush("up", "--nodes", "2").succeeded();
      runs(world, 1, RUN - 1, "true");
      runs(world, RUN, RUN, "sleep", "600");
      works(world, examples, typed, "top");
      works(world, examples, typed, "why");
      assertTrue(works(world, examples, typed, "stop").err().contains("run 7 is stopped"));
      world.gpush("gateway", "stop").succeeded();
      FolderTree.delete(world.home().resolve("ledger"));
      works(world, examples, typed, "adopt");

      assertEquals(examples.keySet(), typed, "every command has had its turn");
    }
  }

  /** What the first screen promises; it needs H100s, which are only asked about here. */
  @Test
  void theFirstScreenIsUnderstood() throws Exception {
    try (World world = World.fresh()) {
      List<String> lines =
          world
              .gpush("help")
              .succeeded()
              .out()
              .lines()
              .filter(line -> line.startsWith("  gpush "))
              .map(line -> line.strip().replaceFirst(" {3,}.*", ""))
              .toList();

      assertEquals(
          List.of("gpush up --nodes 2 --gpus H100:8", "gpush run train.py --lr 3e-4"), lines);
      Result plan = world.run(new byte[0], "sh", "-c", path() + lines.getFirst() + " --dry-run");
      assertTrue(plan.exits(1).out().contains("H100"), plan::toString);
      world.gpush("up").succeeded();
      world.file("train.py", "print('trained')\n");
      Result run = world.run(new byte[0], "sh", "-c", path() + lines.getLast());
      assertTrue(run.succeeded().out().contains("trained"), run::toString);
    }
  }

  /** The programs beside this Python come first, as in a shell that has activated it. */
  private static Map<String, String> first(String python) {
    Path folder = Optional.ofNullable(Path.of(python).getParent()).orElseThrow();
    return Map.of("PATH", folder + ":" + System.getenv("PATH"));
  }

  private static Map<String, String> examples(World world) throws Exception {
    var examples = new TreeMap<String, String>();
    List<String> verbs =
        world
            .gpush("help")
            .succeeded()
            .out()
            .lines()
            .filter(line -> line.matches("(Session|Work|Reach|Files|Explain|Set up)  ? *[a-z].*"))
            .flatMap(line -> Stream.of(line.substring(9).split("  ")[0].split(" ")))
            .filter(word -> word.matches("[a-z]+"))
            .toList();
    assertTrue(verbs.size() > 20, verbs::toString);
    for (String verb : verbs) {
      examples.put(verb, example(world, verb));
    }
    examples.put("help", example(world, "help"));
    return examples;
  }

  private static String example(World world, String verb) throws Exception {
    return world
        .gpush("help", verb)
        .succeeded()
        .out()
        .lines()
        .filter(line -> line.startsWith("  $ "))
        .map(line -> line.substring(4))
        .findFirst()
        .orElseThrow();
  }

  private static Result works(
      World world, Map<String, String> examples, TreeSet<String> typed, String verb)
      throws Exception {
    typed.add(verb);
    // A template is written to where it is asked for: not over the project of the others.
    Path folder = verb.equals("templates") ? elsewhere(world) : world.project();
    String line = path() + "cd '" + folder + "'; " + examples.get(verb);
    return world.run(new byte[0], "bash", "-c", line).succeeded();
  }

  private static Path elsewhere(World world) throws IOException {
    return Files.createDirectories(world.project().resolveSibling("elsewhere"));
  }

  private static String path() {
    return "PATH='" + World.repository() + "':$PATH; ";
  }

  private static void runs(World world, int first, int last, String... words) throws Exception {
    for (int run = first; run <= last; run++) {
      var line = Stream.concat(Stream.of("run", "--detach"), Stream.of(words));
      Result started = world.gpush(line.toArray(String[]::new)).succeeded();
      assertTrue(started.err().contains("run " + run + " "), started::toString);
      if (words[0].equals("true")) {
        // Until it is over: the next one needs its slots.
        world.gpush("logs", "-f", String.valueOf(run)).succeeded();
      }
    }
  }
}
