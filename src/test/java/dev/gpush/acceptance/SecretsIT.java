package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Values that a user gives to a run are seen by its ranks alone: no command, no page, no file that
 * is kept and no command line of a process has them.
 */
@Execution(ExecutionMode.CONCURRENT)
final class SecretsIT {
  /** By how it was given. No pattern knows such a value. */
  private static final Map<String, String> VALUES =
      Map.of(
          "HF_TOKEN of the user's shell", "blue4711shell",
          "--env WANDB_API_KEY", "blue4712env",
          "--env of a plain name", "blue4713plain",
          "API_TOKEN before the script", "blue4714word",
          "--password of the script", "blue4715option",
          "the word after --token", "blue4717next",
          "secrets: of gpush.yaml", "blue4716yaml");

  /** Fails with what it was given, once it has said that it has it. */
  private static final String TRAIN =
      """
      import os, sys
      names = ("HF_TOKEN", "WANDB_API_KEY", "CITY", "API_TOKEN")
      print(sum(os.environ.get(name, "").startswith("blue") for name in names), len(sys.argv))
      sys.exit(3)
      """;

  /** Of a run: what its ranks are started with, and its words, which {@code run} alone repeats. */
  private static final Pattern KEEPS_COMMANDS =
      Pattern.compile("/runs/[0-9]+/spec\\.json$|/sessions/[^/]+/runs/[0-9]+\\.json$");

  /** The files of the project on a node, and their older versions. */
  private static final Pattern WORKSPACE = Pattern.compile("/nodes/.*/proj(\\.gpush/kept)?/");

  /** All that show something; those that take --json are called with it, too. */
  private static final List<String> SHOW =
      List.of(
          "ps",
          "nodes",
          "top --once",
          "why",
          "why 1",
          "runs",
          "runs 1",
          "runs --diff 1 2",
          "logs 1",
          "sync status",
          "config",
          "backends --explain",
          "doctor",
          "gateway status",
          "link --print",
          "up --dry-run");

  @Test
  void valuesAreSeenByRanksAlone() throws Exception {
    try (World world =
        World.fresh(Map.of("HF_TOKEN", VALUES.get("HF_TOKEN of the user's shell")))) {
      world.file("train.py", TRAIN);
      world.file("gpush.yaml", "secrets: [WANDB=" + VALUES.get("secrets: of gpush.yaml") + "]\n");
      var seen = new TreeMap<String, String>();
      world.gpush("up").succeeded();
      String[] run = {
        "run",
        "--env",
        "WANDB_API_KEY=" + VALUES.get("--env WANDB_API_KEY"),
        "--env",
        "CITY=" + VALUES.get("--env of a plain name"),
        "API_TOKEN=" + VALUES.get("API_TOKEN before the script"),
        "train.py",
        "--password=" + VALUES.get("--password of the script"),
        "--token",
        VALUES.get("the word after --token")
      };
      for (int number = 1; number <= 2; number++) {
        Result ended = world.gpush(run).exits(3);
        assertTrue(ended.out().contains("3 4") || ended.out().contains("4 4"), ended::toString);
        seen.put("run " + number, ended.out() + ended.err());
      }

      for (String words : SHOW) {
        for (String more : List.of("", " --json")) {
          Result shown = world.gpush((words + more).split(" ", -1));
          seen.put("gpush " + words + more, shown.out() + shown.err());
        }
      }
      URI address = URI.create(world.json("gateway", "page", "--json").text("url").orElseThrow());
      Page page = Page.of(address);
      seen.put("the page", page.shown());
      for (Path file : files(world)) {
        if (KEEPS_COMMANDS.matcher(file.toString()).find()) {
          assertEquals("rw-------", permissions(file), file::toString);
        } else {
          seen.put(file.toString(), Files.readString(file, StandardCharsets.ISO_8859_1));
        }
      }
      world.processes().forEach(process -> seen.put("process " + process, process));

      var leaks = new ArrayList<String>();
      var values = new TreeMap<>(VALUES);
      values.put("the token of the page", address.getQuery().replaceFirst(".*=", ""));
      values.put("the cookie of the page", page.cookie());
      seen.forEach(
          (place, text) ->
              values.forEach(
                  (how, value) -> {
                    if (text.contains(value)) {
                      leaks.add(place + " has " + how);
                    }
                  }));
      assertEquals("", String.join("\n", leaks));
    }
  }

  /** What it shows, and the cookie of its login. */
  private record Page(String shown, String cookie) {
    static Page of(URI address) throws Exception {
      try (var browser = HttpClient.newHttpClient()) {
        HttpResponse<String> login =
            browser.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString());
        String cookie =
            login.headers().firstValue("Set-Cookie").orElseThrow().replaceFirst(";.*", "");
        HttpRequest live =
            HttpRequest.newBuilder(address.resolve("/live?session=devbox&run=1"))
                .header("Cookie", cookie)
                .header("X-Gpush", "1")
                .build();
        HttpResponse<Stream<String>> stream = browser.send(live, BodyHandlers.ofLines());
        assertEquals(200, stream.statusCode());
        var shown = new StringBuilder();
        try (Stream<String> lines = stream.body()) {
          var each = lines.iterator();
          var missing = new TreeSet<>(List.of("\"of\":\"runs\"", "\"of\":\"nodes\""));
          while (!missing.isEmpty()) {
            String line = each.next();
            shown.append(line).append('\n');
            missing.removeIf(line::contains);
          }
        }
        browser.shutdownNow();
        return new Page(shown.toString(), cookie.replaceFirst(".*=", ""));
      }
    }
  }

  /** What gpush keeps of this home and its agents, without the user's own files on the node. */
  private static List<Path> files(World world) throws IOException {
    var roots = new ArrayList<>(world.agents());
    roots.add(world.home());
    var found = new ArrayList<Path>();
    for (Path root : roots) {
      try (Stream<Path> files = Files.walk(root)) {
        files
            .filter(Files::isRegularFile)
            .filter(file -> !WORKSPACE.matcher(file.toString()).find())
            .forEach(found::add);
      }
    }
    return found;
  }

  private static String permissions(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }
}
