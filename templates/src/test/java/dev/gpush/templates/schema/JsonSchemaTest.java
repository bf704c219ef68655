package dev.gpush.templates.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaLocation;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import com.networknt.schema.dialect.DialectId;
import dev.gpush.core.json.Json;
import dev.gpush.templates.yaml.Yaml;
import dev.gpush.templates.yaml.YamlReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonSchemaTest {
  /** Surefire starts in the module's folder. */
  private static final Path ROOT = Path.of("..");

  /** Far below what there is: it only tells that they were found. */
  private static final int FEWEST_EXAMPLES = 25;

  /** What a line of YAML is at the left edge; a line of other programs is rarely so. */
  private static final Pattern ENTRY = Pattern.compile("(?m)^(?=[^\\s#])");

  @ParameterizedTest
  @EnumSource
  void isASchema(Place place) {
    String json = JsonSchema.of(place).write();

    assertEquals(
        List.of(),
        SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_7)
            .getSchema(SchemaLocation.of(DialectId.DRAFT_7))
            .validate(json, InputFormat.JSON));
  }

  @ParameterizedTest
  @EnumSource
  void hasAllKeysThatAreAcceptedWithWhatTheyMean(Place place) {
    Json.Obj schema = JsonSchema.of(place);
    for (Key key : Schema.of(place)) {
      boolean isAccepted = key.isSupported() || key.support() instanceof Support.Unsupported;
      String text = at(schema, key.path()).text("description").orElse("");

      assertEquals(isAccepted, text.endsWith("must be " + key.type().words()), key::path);
      assertTrue(text.contains(key.says()), key::path);
    }
  }

  /** The schema of a key: a key that is a section, too, is one of two. */
  private static Json.Obj at(Json.Obj schema, String path) {
    Json.Obj at = schema;
    for (String word : path.split("\\.", -1)) {
      List<Json> either = at.items("anyOf");
      Json.Obj section = either.isEmpty() ? at : (Json.Obj) either.getLast();
      at =
          word.equals(Schema.ANY)
              ? section.object("additionalProperties")
              : section.object("properties").object(word);
    }
    return at;
  }

  @Test
  void acceptsTheExamplesOfTheDocumentation() throws IOException {
    var wrong = new ArrayList<String>();
    int count = 0;
    try (Stream<Path> guides = Files.list(ROOT.resolve("docs/guide"))) {
      Stream<Path> pages = guides.filter(Files::isRegularFile);
      for (Path page : Stream.concat(Stream.of(ROOT.resolve("README.md")), pages).toList()) {
        for (String paragraph : Files.readString(page).split("\n\\s*\n")) {
          for (String entry : entries(paragraph)) {
            count++;
            EditorCheck.problems(placeOf(entry).orElseThrow(), entry)
                .forEach(problem -> wrong.add(page.getFileName() + ": " + problem + "\n" + entry));
          }
        }
      }
    }

    assertEquals(List.of(), wrong);
    assertTrue(count >= FEWEST_EXAMPLES, "only " + count);
  }

  /** Of a paragraph of code that is YAML of gpush; each alone, as some pages list alternatives. */
  private static List<String> entries(String paragraph) {
    if (!paragraph.lines().allMatch(line -> line.startsWith("    "))) {
      return List.of();
    }
    List<String> entries =
        Stream.of(ENTRY.split(paragraph.stripIndent()))
            .filter(entry -> !entry.isBlank() && !entry.startsWith("#"))
            .map(entry -> entry.replaceFirst("^(?=[a-z]+: \\{kind: )", "backends:\n  "))
            .toList();
    boolean isYaml = entries.stream().allMatch(entry -> entry.matches("(?s)[a-z]+:(\\s.*)?"));
    return isYaml
        ? entries.stream().filter(entry -> placeOf(entry).isPresent()).toList()
        : List.of();
  }

  /** Empty: it is not of gpush. */
  private static Optional<Place> placeOf(String entry) {
    String word = entry.substring(0, entry.indexOf(':'));
    return entry.matches("(?s)backends:\\s*(#.*)?\\n.*")
        ? Optional.of(Place.PERSON)
        : Stream.of(Place.values())
            .filter(
                place ->
                    Schema.of(place).stream()
                        .anyMatch(key -> (key.path() + ".").startsWith(word + ".")))
            .findFirst();
  }

  @Test
  void acceptsTemplatesAndSamples() throws IOException {
    Path main = Path.of("src/main/resources/dev/gpush/templates");
    Path samples = Path.of("src/test/resources/dev/gpush/templates/product");
    for (String name : List.of("ddp.yaml", "hello.yaml", "one-gpu.yaml")) {
      assertEquals(List.of(), problems(Place.PROJECT, main.resolve(name)));
    }
    assertEquals(List.of(), problems(Place.PROJECT, samples.resolve("slurm/gpush.yaml")));
    assertEquals(List.of(), problems(Place.PROJECT, samples.resolve("kubernetes/gpush.yaml")));
    assertEquals(List.of(), problems(Place.PERSON, samples.resolve("config.yaml")));
  }

  private static List<String> problems(Place place, Path file) throws IOException {
    return EditorCheck.problems(place, Files.readString(file));
  }

  /** Forms that the documentation has no example of. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "# nothing\nnodes: 2",
        "lease:\nsetup:\nsync:\n",
        "python: 3.11",
        "python: 3",
        "gpus: 0",
        "gpus: A100",
        "env: {OMP_NUM_THREADS: 8, DEBUG: true, EMPTY: \"\"}",
        "env:",
        "git: {history: 1000}",
        "git: {history: all}",
        "ports: 8888",
        "ports: [\"1:8888\", 80]",
        "sync: {ask-over: 500kB, new-from-node: 1000000}",
        "outputs: ~",
        "outputs: $HOME/runs",
        "image: \"ghcr.io/acme/train:1\"",
        "lease: {for: 1d12h, warn: [30m, 90s]}",
        "run: {warn: SIGUSR1@10m, grace: 30s}",
      })
  void saysTheSameAsGpush(String yaml) {
    assertEquals(
        Checker.check(Place.PROJECT, read(yaml)).flaws().isEmpty(),
        EditorCheck.problems(Place.PROJECT, yaml).isEmpty(),
        () -> EditorCheck.problems(Place.PROJECT, yaml).toString());
  }

  private static Yaml.Mapping read(String yaml) {
    return YamlReader.read(yaml.getBytes(StandardCharsets.UTF_8)).content().orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "backends: {r: {kind: ssh, hosts: [{host: gpu01, prot: 22}]}}",
        "backends: {r: {kind: ssh, hosts: [{port: 22}]}}",
        "backends: {r: {kind: ssh, hosts: gpu01}}",
        "backends: {h: {kind: slurm, price: {H100: cheap}}}",
        "recipes: {a: off}",
      })
  void refusesWhatIsWrongWithinValues(String yaml) {
    assertFalse(Checker.check(Place.SITE, read(yaml)).flaws().isEmpty());
    assertFalse(EditorCheck.problems(Place.SITE, yaml).isEmpty());
  }

  @Test
  void showsTheBuiltInValueAsPeopleWriteIt() {
    Json.Obj schema = JsonSchema.of(Place.PROJECT);

    assertEquals(1, at(schema, "nodes").number("default").orElseThrow());
    assertEquals("1h", at(schema, "lease.idle").text("default").orElseThrow());
    assertEquals(List.of("30m", "15m", "5m"), at(schema, "lease.warn").texts("default"));
    assertEquals("50MB", at(schema, "sync.ask-over").text("default").orElseThrow());
  }

  @Test
  void filesAreWrittenOnceAndAgainWhenTheyDiffer(@TempDir Path home) throws IOException {
    JsonSchema.write(home);
    Path file = home.resolve(JsonSchema.file(Place.PERSON));
    Files.setLastModifiedTime(file, FileTime.fromMillis(0));
    Files.writeString(home.resolve("schema/gpush.json"), "{}");

    JsonSchema.write(home);

    assertEquals(FileTime.fromMillis(0), Files.getLastModifiedTime(file));
    try (Stream<Path> files = Files.list(file.resolveSibling("."))) {
      assertEquals(
          List.of("config.json", "gpush.json", "site.json"),
          files.map(each -> each.getFileName().toString()).sorted().collect(Collectors.toList()));
    }
    assertEquals(
        JsonSchema.of(Place.PROJECT),
        Json.parse(Files.readString(home.resolve("schema/gpush.json"))));
  }
}
