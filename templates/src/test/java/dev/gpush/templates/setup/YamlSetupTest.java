package dev.gpush.templates.setup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.setup.HostSource.ListedHost;
import dev.gpush.core.setup.PlaceCheck;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.PlaceSearch;
import dev.gpush.core.setup.SetupProposal;
import dev.gpush.core.setup.SetupProposal.Change;
import dev.gpush.core.setup.SetupProposal.Found;
import dev.gpush.core.setup.SetupQuestion;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.templates.YamlConfigs;
import dev.gpush.templates.schema.EditorCheck;
import dev.gpush.templates.schema.JsonSchema;
import dev.gpush.templates.schema.Place;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is found becomes files that gpush's own reader takes, and that are the user's own. */
final class YamlSetupTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static final PlaceFinding LOGIN = login("hpc", 1, "ann@login.lab:22");
  private static final PlaceFinding OTHER_LOGIN = login("hpc2", 2, "ann@login2.lab:22");

  private static final PlaceFinding CONTEXT =
      new PlaceFinding.Context(
          "arn:aws:eks:us-east-1:123:cluster/Big_One",
          "~/.kube/config",
          Optional.of(Path.of("/k/my config")),
          false,
          "ml",
          "namespace ml of https://k",
          "16 GPUs, namespace ml of https://k");

  @TempDir private Path folder;
  private final Tasks tasks = Tasks.named("test", (_, _) -> {});
  private Path home;
  private Path project;

  private static PlaceFinding login(String name, int line, String address) {
    return new PlaceFinding.Login(
        name, "~/.ssh/config:" + line, address, "alpha", List.of("cpu", "gpu (gpu:a100:4)"));
  }

  @BeforeEach
  void folders() throws IOException {
    home = Files.createDirectories(folder.resolve("home/.gpush"));
    project = folder.resolve("home/proj");
    Files.createDirectories(project.resolve(".git"));
  }

  @AfterEach
  void end() {
    tasks.close();
  }

  private static PlaceFinding host(String name, String address) {
    return new PlaceFinding.GpuHost(
        name, "~/.ssh/config:9", "ann@" + address + ":22", Optional.empty(), "8 × H100");
  }

  private YamlConfigs configs() {
    return new YamlConfigs(home, folder.resolve("site.yaml"), "ann");
  }

  private YamlSetup setup(PlaceFinding... findings) {
    List<PlaceCheck> checks =
        List.of(findings).stream()
            .map(found -> new PlaceCheck(found.name(), found.origin(), _ -> found))
            .toList();
    return new YamlSetup(
        configs(),
        home,
        new PlaceSearch(List.of(_ -> checks), LIMIT, LIMIT, Clock.system(), tasks));
  }

  private SetupQuestion question(String... names) {
    return new SetupQuestion(
        folder.resolve("home"),
        project,
        Map.of("PATH", "/nonexistent:" + folder.resolve("bin")),
        List.of(names));
  }

  private SetupProposal propose(PlaceFinding... findings) throws InterruptedException {
    return setup(findings).propose(question());
  }

  /** Writes everything, and reads it as editors and any command do. */
  private Map<String, BackendConfig> written(PlaceFinding... findings) throws Exception {
    YamlSetup setup = setup(findings);
    setup.propose(question()).changes().forEach(setup::write);
    assertEquals(List.of(), EditorCheck.problems(Place.PERSON, config()));
    return configs().load(project).backends().stream()
        .collect(Collectors.toMap(BackendConfig::name, block -> block));
  }

  private String config() throws IOException {
    return Files.readString(home.resolve("config.yaml"));
  }

  private void config(String text) throws IOException {
    Files.writeString(home.resolve("config.yaml"), text);
  }

  @Test
  void everyKindOfPlaceBecomesABackendThatCanBeRead() throws Exception {
    Map<String, BackendConfig> backends =
        written(
            LOGIN,
            OTHER_LOGIN,
            CONTEXT,
            host("gpu01.lab", "10.0.0.1"),
            host("gpu02.lab", "10.0.0.2"),
            host("same", "10.0.0.2"),
            host("ml@10.9.9.9", "10.9.9.9"));

    assertEquals(
        List.of("big-one", "gpu-lab", "hpc", "local", "rack-10-9-9"),
        backends.keySet().stream().sorted().toList());
    assertEquals(Optional.of("hpc"), backends.get("hpc").values().text("login"));
    BackendConfig cluster = backends.get("big-one");
    assertEquals(Optional.of(CONTEXT.name()), cluster.values().text("context"));
    assertEquals(Optional.of("/k/my config"), cluster.values().text("kubeconfig"));
    assertEquals(
        List.of("gpu01.lab", "gpu02.lab"),
        backends.get("gpu-lab").values().items("hosts").stream()
            .flatMap(host -> host.text("host").stream())
            .toList());
    assertTrue(config().startsWith(JsonSchema.modeline(Place.PERSON)), config());
    assertTrue(config().contains("# partition: NAME   # of cpu, gpu (gpu:a100:4)"), config());
  }

  @Test
  void aRackHasOneKindOfGpus() throws Exception {
    Map<String, BackendConfig> backends =
        written(
            host("h100", "10.0.0.1"),
            new PlaceFinding.GpuHost("h200", "f", "a@10.0.0.2:22", Optional.empty(), "8 × H200"),
            host("n01", "10.0.0.3"),
            new PlaceFinding.GpuHost("n02", "f", "a@10.0.0.4:22", Optional.empty(), "7 × H100"),
            host("DOM\\ml@10.9.9.9", "10.9.9.9"));

    assertEquals(
        List.of("h100", "h200", "local", "n", "rack-10-9-9"),
        backends.keySet().stream().sorted().toList());
    assertTrue(config().contains("# 8 × H100 or 7 × H100 each, ~/.ssh/config:9"), config());
  }

  @Test
  void aNewFileThatGpushCouldNotReadIsNotWritten() throws Exception {
    assertEquals(List.of(), propose(LOGIN, host("no host", "10.0.0.1")).changes());
  }

  @Test
  void aSecondTimeNothingIsNew() throws Exception {
    PlaceFinding[] all = {
      LOGIN, OTHER_LOGIN, CONTEXT, host("gpu01", "10.0.0.1"), host("alias", "10.0.0.1")
    };
    written(all);

    SetupProposal again = propose(all);

    assertEquals(List.of(), again.changes());
    assertEquals("", again.paste());
    assertEquals(
        List.of("hpc", "big-one", "gpu", "hpc", "gpu"),
        again.found().stream().map(Found::backend).toList());
    assertTrue(again.found().stream().noneMatch(Found::isNew));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{kind: slurm, login: ann@hpc}",
        "{kind: slurm, login: login.lab}",
        "{kind: ssh, hosts: [\"10.0.0.[1-4]\"]}",
        "{kind: kubernetes, context: \"arn:aws:eks:us-east-1:123:cluster/Big_One\",\n"
            + "    namespace: ml, image: x, kubeconfig: /k/my config}",
      })
  void aBackendIsKnownByWhatItsNamesMean(String block) throws Exception {
    config("backends:\n  mine: " + block + "\n");

    assertEquals(
        1,
        propose(LOGIN, CONTEXT, host("gpu01", "10.0.0.1")).found().stream()
            .filter(place -> place.backend().equals("mine"))
            .count());
  }

  @Test
  void aContextOfTheSameNameInAnotherFileIsNew() throws Exception {
    config(
        "backends:\n  mine: {kind: kubernetes, context: \""
            + CONTEXT.name()
            + "\", kubeconfig: /k/other}\n");

    assertTrue(propose(CONTEXT).found().getFirst().isNew());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "# mine\n",
        "owner: ann",
        "owner: ann\n\n# the end\n",
        "backends:\n  rack: {kind: ssh, hosts: [\"gpu[01-04]\"]}   # mine\n\n\n# next\nowner: ann\n",
        "backends:\n      a:\n        kind: local\n        # of a\n",
        "backends:\nowner: ann\n",
        "defaults: {nodes: 2}\r\nbackends:\r\n  a: {kind: local}\r\n",
        "---\nbackends:\n  a: {kind: local}\n...\n",
        "backends:\n  a: {kind: slurm, native: [\"--comment=#x\",\n    '--qos=y']}\n  # last",
      })
  void anExistingFileKeepsEveryByte(String before) throws Exception {
    config(before);
    int count = configs().load(project).backends().size();

    assertEquals(count + 1, written(LOGIN).size());

    String after = config();
    int at = 0;
    while (at < before.length() && before.charAt(at) == after.charAt(at)) {
      at++;
    }
    String rest = before.substring(at);
    assertTrue(after.endsWith(rest), after);
    assertEquals(before.contains("\r\n"), after.contains("\r\n"));
    assertEquals(List.of(), propose(LOGIN).changes());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "backends: {a: {kind: local}}\n",
        "{backends: {a: {kind: local}}}\n",
        "defaults: {nodes: 2}\rbackends:\r  a: {kind: local}\rowner: ann\r",
        "backends: {\n  a: {kind: local}\n}\n",
      })
  void whereItCannotBeAddedSafelyItIsForPasting(String before) throws Exception {
    config(before);

    SetupProposal proposal = propose(LOGIN);

    assertEquals(List.of(), proposal.changes());
    assertTrue(proposal.paste().startsWith("  hpc:"), proposal.paste());
    assertEquals(before, config());
  }

  @Test
  void aConfigurationWithAMistakeIsNamedBeforeAnythingIsLookedAt() throws Exception {
    config("backends: [\n");

    GpushException failed = assertThrows(GpushException.class, () -> propose(LOGIN));

    assertInstanceOf(ConfigFailure.Invalid.class, failed.failure());
  }

  @Test
  void aNameThatIsTakenGetsANumber() throws Exception {
    config("backends:\n  hpc: {kind: local}\n");

    assertEquals(Optional.of("hpc"), written(LOGIN).get("hpc2").values().text("login"));
  }

  @Test
  void aFileThatChangedMeanwhileIsLeftAlone() throws Exception {
    YamlSetup setup = setup(LOGIN);
    Change change = setup.propose(question()).changes().getFirst();
    config("owner: bob\n");

    GpushException failed = assertThrows(GpushException.class, () -> setup.write(change));

    assertInstanceOf(ConfigFailure.NotWritten.class, failed.failure());
    assertEquals("owner: bob\n", config());
  }

  @Test
  void aLinkStaysALinkAndTheFileKeepsItsMode() throws Exception {
    Path real = folder.resolve("dotfiles.yaml");
    Files.writeString(real, "owner: ann\n");
    Files.setPosixFilePermissions(real, PosixFilePermissions.fromString("rw-r-----"));
    Files.createSymbolicLink(home.resolve("config.yaml"), real);

    written(LOGIN);

    assertTrue(Files.isSymbolicLink(home.resolve("config.yaml")));
    assertTrue(Files.readString(real).contains("login: hpc"));
    assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(real)));
  }

  @Test
  void aFolderThatCannotBeWrittenIsAFailureWithAReason() throws Exception {
    YamlSetup setup = setup(LOGIN);
    Change change = setup.propose(question()).changes().getFirst();
    Files.delete(home);
    Files.writeString(home, "a file");

    GpushException failed = assertThrows(GpushException.class, () -> setup.write(change));

    assertTrue(
        failed.failure() instanceof ConfigFailure.NotWritten
            || failed.failure() instanceof ConfigFailure.Unreadable,
        failed.getMessage());
  }

  @Test
  void noPlaceVanishesBecauseAnotherHasItsName() throws Exception {
    var context = new PlaceFinding.Unasked("hpc", "~/.kube/config", "logs in by aws", "");
    var namesake =
        new PlaceFinding.Login("far", "~/.ssh/config:3", "ann@far:22", "alpha", List.of("h100"));
    uv();

    SetupProposal proposal = setup(context, LOGIN, OTHER_LOGIN, namesake).propose(question("hpc"));

    assertEquals(List.of(context), proposal.unasked());
    assertEquals(
        List.of("hpc hpc", "far far", "hpc2 hpc"),
        proposal.found().stream().map(it -> it.name() + " " + it.backend()).toList());
    assertTrue(proposal.found().stream().allMatch(Found::isNew));
    assertEquals(1, proposal.changes().size(), "names are about places alone");
  }

  private void uv() throws IOException {
    Path program = Files.createDirectories(folder.resolve("bin")).resolve("uv");
    Files.writeString(program, "");
    assertTrue(program.toFile().setExecutable(true));
    Files.writeString(project.resolve("uv.lock"), "version = 1\n");
  }

  /** Otherwise the first gpush up here would fail. */
  @Test
  void aLockOfUvNeedsUv() throws Exception {
    Files.writeString(project.resolve("uv.lock"), "version = 1\n");
    assertEquals(List.of(), propose().changes());

    uv();
    assertEquals(1, propose().changes().size());
  }

  @Test
  void aProjectSaysWhatItIsSureOf() throws Exception {
    uv();
    Files.writeString(project.resolve(".gitignore"), "*.pyc\n/checkpoints/\nwandb\n");
    Files.writeString(
        project.resolve("train.dstack.yml"),
        """
        type: task
        image: ghcr.io/acme/train:1
        nodes: 2
        ports: [8000, "80:8080"]
        resources: {gpu: H100:8}
        commands: [python train.py]
        """);

    YamlSetup setup = setup();
    Change change = setup.propose(question()).changes().getFirst();

    assertEquals(
        """
        # Facts of this project, to be committed. gpush init wrote this; edit it freely.
        # gpush config shows what counts here.
        python: uv.lock   # each node gets what uv sync makes of it; uv must be there
        ports: [8000]   # of train.dstack.yml; they get a port of this machine
        # image: ghcr.io/acme/train:1   # of train.dstack.yml; a Slurm cluster needs pyxis for it
        # nodes: 2   # of train.dstack.yml
        # gpus: H100:8   # per node
        # outputs: /PATH   # a folder of the nodes for results ($GPUSH_OUTPUT); git ignores checkpoints, wandb
        """,
        change.added());
    setup.write(change);
    assertEquals(Optional.of("uv.lock"), configs().load(project).text("python"));
    assertEquals(List.of(), setup.propose(question()).changes());

    // Each hint can be switched on.
    Path file = project.resolve("gpush.yaml");
    Files.writeString(file, Files.readString(file).replaceAll("(?m)^# (?=[a-z]+: )", ""));
    assertEquals(Optional.of("H100:8"), configs().load(project).text("gpus"));
    assertEquals(List.of(), EditorCheck.problems(Place.PROJECT, Files.readString(file)));
  }

  @Test
  void ofTasksThatDifferNothingIsTaken() throws Exception {
    for (int i = 1; i <= 2; i++) {
      Files.writeString(
          project.resolve("t" + i + ".sky.yaml"),
          "resources: {image_id: \"docker:img:" + i + "\", accelerators: H100:8}\nrun: x\n");
    }

    assertEquals(List.of(), propose().changes());
  }

  @Test
  void hostsOfSkyPilotAndDstackAreRead() throws Exception {
    Files.createDirectories(folder.resolve("home/.sky"));
    Files.writeString(
        folder.resolve("home/.sky/ssh_node_pools.yaml"),
        """
        lab:
          user: ml
          hosts:
            - gpu01
            - ip: 10.0.0.2
              identity_file: ~/.ssh/key
            - {ip: 10.0.0.3, user: bob}
        """);
    Files.writeString(
        project.resolve("fleet.dstack.yml"),
        "type: fleet\nname: desk\nssh_config: {user: ann, hosts: [10.1.1.1, {hostname: h2}]}\n");
    Files.writeString(project.resolve("broken.yaml"), "\t{");

    Optional<String> pool = Optional.of("lab");
    Optional<String> fleet = Optional.of("desk");
    String sky = "~/.sky/ssh_node_pools.yaml:1";
    assertEquals(
        List.of(
            new ListedHost("gpu01", pool, sky),
            new ListedHost("ml@10.0.0.2", pool, sky),
            new ListedHost("bob@10.0.0.3", pool, sky),
            new ListedHost("ann@10.1.1.1", fleet, "fleet.dstack.yml"),
            new ListedHost("ann@h2", fleet, "fleet.dstack.yml")),
        new OtherTools().hosts(question()));
  }
}
