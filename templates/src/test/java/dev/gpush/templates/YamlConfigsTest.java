package dev.gpush.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Setting;
import dev.gpush.core.json.Json;
import dev.gpush.templates.schema.Key;
import dev.gpush.templates.schema.Schema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class YamlConfigsTest {
  @TempDir private Path folder;

  private Folders folders() {
    return Folders.in(folder);
  }

  @Test
  void withoutAnyFileEverythingIsBuiltIn() {
    Config config = folders().load();

    var keys = new ArrayList<>(Schema.settings().stream().map(Key::setting).toList());
    keys.addAll(List.of("owner", "backends.local.kind"));
    assertEquals(keys, config.settings().stream().map(Setting::key).toList());
    assertTrue(
        config.settings().stream()
            .allMatch(value -> value.origin().equals("built in") || value.key().equals("owner")));
    assertEquals(1, config.number("nodes").orElseThrow());
    assertEquals(3600, config.number("lease.idle").orElseThrow());
    assertEquals(50_000_000, config.number("sync.ask-over").orElseThrow());
    assertEquals("live", config.text("sync.mode").orElseThrow());
    assertTrue(config.text("gpus").isEmpty());
    assertTrue(config.number("lease.for").isEmpty());
    assertEquals(List.of("local"), config.order());
    assertEquals(
        List.of(new BackendConfig("local", "local", Json.object(), "built in")), config.backends());
  }

  @Test
  void anEmptyOrCommentedFileIsNoMistake() {
    Folders folders =
        folders()
            .with("gpush.yaml", "\uFEFF# nothing yet\n")
            .with("gpush.local.yaml", "")
            .with("config.yaml", "---\n...\n")
            .with("site.yaml", "defaults:\nbackends:\n");

    assertEquals("1 built in", folders.setting("nodes"));
  }

  @Test
  void theHighestFileThatGivesAValueWins() {
    Folders folders =
        folders()
            .with("site.yaml", "defaults:\n  nodes: 5\n  gpus: 5\n  lease: {idle: 5h, for: 5h}\n")
            .with("config.yaml", "defaults:\n  nodes: 4\n  gpus: 4\n  lease:\n    idle: 4h\n")
            .with("base.yaml", "# base\nnodes: 3\ngpus: 3\npython: three\noutputs: /three\n")
            .with("gpush.yaml", "inherits: base\nnodes: 2\ngpus: 2\n")
            .with("gpush.local.yaml", "nodes: 1\n");

    assertEquals("1 gpush.local.yaml:1", folders.setting("nodes"));
    assertEquals("\"2\" gpush.yaml:3", folders.setting("gpus"));
    assertEquals("\"three\" gpush.yaml:1 (template base:4)", folders.setting("python"));
    assertEquals("14400 config.yaml:5", folders.setting("lease.idle"));
    assertEquals("18000 site.yaml:4", folders.setting("lease.for"));
    assertEquals("\"live\" built in", folders.setting("sync.mode"));
  }

  @Test
  void theFormsOfAnEnvironment() {
    Folders text = folders().with("gpush.yaml", "python: uv.lock\nsetup: {run: make}\n");
    assertEquals("\"uv.lock\" gpush.yaml:1", text.setting("python"));
    assertEquals("\"make\" gpush.yaml:2", text.setting("setup.run"));

    Folders parts =
        folders()
            .with(
                "gpush.yaml",
                "python: {venv: ../v, modules: [a, b], file: env.sh}\n"
                    + "setup: {run: make, when: uv.lock}\n");
    assertEquals("\"../v\" gpush.yaml:1", parts.setting("python.venv"));
    assertEquals("[\"a\",\"b\"] gpush.yaml:1", parts.setting("python.modules"));
    assertEquals("\"env.sh\" gpush.yaml:1", parts.setting("python.file"));
    assertEquals("[\"uv.lock\"] gpush.yaml:2", parts.setting("setup.when"));
  }

  @Test
  void variablesAddUpAndTheHighestFileWinsEach() {
    Folders folders =
        folders()
            .with("gpush.yaml", "env:\n  A: project\n  B: 1\n  C: \"\"\n")
            .with("gpush.local.yaml", "env: {A: mine, D: yes}\n");

    assertEquals(
        "{\"A\":\"mine\",\"D\":\"yes\",\"B\":\"1\",\"C\":\"\"} gpush.local.yaml:1, gpush.yaml:1",
        folders.setting("env"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "gpus: H100:8 | gpus | \"H100:8\"",
        "gpus: 8 | gpus | \"8\"",
        "gpus: '8' | gpus | \"8\"",
        "gpus: A100 | gpus | \"A100:1\"",
        "gpus: 0 | gpus | \"cpu\"",
        "lease: {for: 1h30m} | lease.for | 5400",
        "lease: {for: 1d12h} | lease.for | 129600",
        "lease: {for: 90s} | lease.for | 90",
        "sync: {ask-over: 0} | sync.ask-over | 0",
        "git: {history: 1000} | git.history | \"1000\"",
        "git: {history: none} | git.history | \"none\"",
        "sync: {ask-over: 7B} | sync.ask-over | 7",
        "sync: {ask-over: 500kB} | sync.ask-over | 500000",
        "sync: {ask-over: 50MB} | sync.ask-over | 50000000",
        "sync: {ask-over: 50 M} | sync.ask-over | 50000000",
        "sync: {ask-over: 2GiB} | sync.ask-over | 2147483648",
        "sync: {ask-over: 8000000TiB} | sync.ask-over | 8796093022208000000",
        "python: 3.11 | python | \"3.11\"",
        "python: .venv/bin/python | python | \".venv/bin/python\"",
        "env: {A: 1.0, B: true} | env | {\"A\":\"1.0\",\"B\":\"true\"}",
        "outputs: ~/runs | outputs | \"~/runs\"",
        "outputs: $HOME/runs | outputs | \"$HOME/runs\"",
        "outputs: '${HOME}/a b' | outputs | \"${HOME}/a b\"",
        "outputs: /scratch/$USER/runs | outputs | \"/scratch/$USER/runs\"",
        "sync: {mode: manual} | sync.mode | \"manual\"",
      })
  void readsValues(String yaml, String key, String value) {
    assertEquals(value + " gpush.yaml:1", folders().with("gpush.yaml", yaml).setting(key));
  }

  @Test
  void anAliasStandsForWhatItNames() {
    Folders folders = folders().with("gpush.yaml", "python: &p /o/py\noutputs: *p\n");

    assertEquals("\"/o/py\" gpush.yaml:2", folders.setting("outputs"));
  }

  @Test
  void backendsKeepTheirValuesAndOrigin() {
    Folders folders =
        folders()
            .with("gpush.yaml", "")
            .with("site.yaml", "backends:\n  big: {kind: local, nodes: 9}\n  here: {kind: local}\n")
            .with(
                "config.yaml",
                "backends:\n  here:\n    kind: local\n    nodes: 2\n    locks: /tmp/l\n");

    Config config = folders.load();

    assertEquals(
        List.of(
            new BackendConfig("big", "local", Json.object("nodes", 9), "site.yaml:2"),
            new BackendConfig(
                "here", "local", Json.object("nodes", 2, "locks", "/tmp/l"), "config.yaml:3"),
            new BackendConfig("local", "local", Json.object(), "built in")),
        config.backends());
    assertEquals(List.of("big", "here", "local"), config.order());
  }

  @Test
  void everyValueOfABackendAndTheOwnerSayWhereTheyComeFrom() {
    Folders folders =
        folders()
            .with("gpush.yaml", "")
            .with("site.yaml", "backends:\n  big: {kind: local, nodes: 9}\n  here: {kind: ssh}\n")
            .with(
                "config.yaml",
                "owner: ann@lab\nbackends:\n  here:\n    kind: local\n    nodes: 2\n"
                    + "  hpc: {kind: slurm, time: {max: 2d}}\n");

    List<String> shown =
        folders.load().settings().stream()
            .filter(
                setting -> setting.key().equals("owner") || setting.key().startsWith("backends."))
            .map(setting -> setting.key() + "=" + setting.text() + " " + setting.origin())
            .toList();

    assertEquals(
        List.of(
            "owner=ann@lab config.yaml:1",
            "backends.big.kind=local site.yaml:2",
            "backends.big.nodes=9 site.yaml:2",
            "backends.here.kind=local config.yaml:4",
            "backends.here.nodes=2 config.yaml:5",
            "backends.hpc.kind=slurm config.yaml:6",
            "backends.hpc.time.max=2d config.yaml:6",
            "backends.local.kind=local built in"),
        shown);
  }

  @Test
  void withoutAnOwnerTheLoginNameIsShownAsTheOwner() {
    Setting owner = owner(folders().load());

    assertEquals(
        List.of("ann", "login name"), List.of(owner.value().asText().get(), owner.origin()));
  }

  private static Setting owner(Config config) {
    return config.settings().stream()
        .filter(setting -> setting.key().equals("owner"))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "lease: {for: 1d2h30m} | lease.for | 1d2h30m",
        "lease: {idle: 3600s} | lease.idle | 1h",
        "lease: {warn: [30m, 90s]} | lease.warn | 30m, 1m30s",
        "sync: {ask-over: 500kB} | sync.ask-over | 500kB",
        "sync: {ask-over: 2GiB} | sync.ask-over | 2GiB",
        "sync: {ask-over: 2000GB} | sync.ask-over | 2TB",
        "sync: {ask-over: 7B} | sync.ask-over | 7B",
        "sync: {ask-over: 0} | sync.ask-over | 0",
        "run: {warn: USR1@10m} | run.warn | USR1@10m",
        "env: {A: 1, B: x y} | env | A=1, B=x y",
        "gpus: A100:4 | gpus | A100:4",
        "backends: [local] | backends | local",
      })
  void valuesAreShownAsPeopleWriteThem(String yaml, String key, String text) {
    Config config = folders().with("gpush.yaml", yaml).load();

    assertEquals(
        Optional.of(text),
        config.settings().stream()
            .filter(setting -> setting.key().equals(key))
            .map(Setting::text)
            .findFirst());
  }

  @Test
  void theProjectsOrderComesBeforeThePersons() {
    Folders folders =
        folders()
            .with("gpush.yaml", "nodes: 1\n")
            .with(
                "config.yaml",
                "defaults: {backends: [b, a]}\nbackends: {a: {kind: local}, b: {kind: local}}\n");

    assertEquals(List.of("b", "a"), folders.load().order());
    assertEquals(List.of("local"), folders.with("gpush.yaml", "backends: [local]").load().order());
    assertEquals("[\"local\"] gpush.yaml:1", folders.setting("backends"));
  }

  @Test
  void theRootIsTheNearestProjectFileElseGitElseTheFolder() throws Exception {
    Path deep = Files.createDirectories(folder.resolve("project/a/b"));
    YamlConfigs configs = folders().configs();

    Config none = configs.load(deep);
    Files.writeString(folder.resolve("project/.git"), "gitdir: elsewhere\n");
    Config git = configs.load(deep);
    Files.writeString(folder.resolve("project/a/gpush.yaml"), "nodes: 3\n");
    Config project = configs.load(deep);

    assertEquals(List.of(deep, "this folder"), List.of(none.root(), none.rootReason()));
    assertEquals(
        List.of(folder.resolve("project"), "git top level"), List.of(git.root(), git.rootReason()));
    assertEquals(
        List.of(folder.resolve("project/a"), "nearest gpush.yaml"),
        List.of(project.root(), project.rootReason()));
  }

  @Test
  void aProjectFileThatAnybodyCouldPutThereDoesNotRuleFoldersBelow() throws Exception {
    Path open = Files.createDirectories(folder.resolve("open"));
    Files.setPosixFilePermissions(open, PosixFilePermissions.fromString("rwxrwxrwx"));
    Files.writeString(open.resolve("gpush.yaml"), "env: {PATH: /evil}\n");
    Path mine = Files.createDirectories(open.resolve("mine"));
    YamlConfigs configs = folders().configs();

    assertEquals(mine, configs.load(mine).root());
    assertEquals(open, configs.load(open).root());
  }
}
