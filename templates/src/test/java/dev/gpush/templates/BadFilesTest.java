package dev.gpush.templates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.failure.GpushException;
import dev.gpush.templates.schema.EditorCheck;
import dev.gpush.templates.schema.Place;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class BadFilesTest {
  /** What only gpush finds: a JSON Schema cannot say it, or says less. */
  private static final Pattern BEYOND_SCHEMAS =
      Pattern.compile(
          "no backend \\w+ is configured|there is no template|is given twice|USR1@60d|9000000TiB"
              + "|\\$\\w+ is not known here|has \\{user}|cannot be read-only|a second document|tags such as");

  @TempDir private Path folder;

  private Folders folders() {
    return Folders.in(folder);
  }

  /** In the tables {@code ⏎} ends a line of YAML, and {@code →} is a tab. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          nods: 2 | 1:1 nods: unknown key, did you mean nodes?
          nodse: 2 | 1:1 nodse: unknown key, did you mean nodes?
          zebra: 2 | 1:1 zebra: unknown key
          idle: 2h | 1:1 idle: unknown key, did you mean lease.idle?
          lease: {ilde: 2h} | 1:9 lease.ilde: unknown key, did you mean idle?
          lease.idle: 2h | 1:1 lease.idle: unknown key, did you mean lease: {idle: …}?
          nodes: two | 1:8 nodes: must be a whole number from 1 to 256, not two
          nodes: 0 | 1:8 nodes: must be a whole number from 1 to 256, not 0
          nodes: 257 | 1:8 nodes: must be a whole number from 1 to 256, not 257
          nodes: 2.5 | 1:8 nodes: must be a whole number from 1 to 256, not 2.5
          nodes: '2' | 1:8 nodes: must be a whole number from 1 to 256, not "2"
          nodes: 99999999999999999999 | 1:8 nodes: must be a whole number from 1 to 256, not 99999999999999999999
          nodes: | 1:7 nodes: has no value; it must be a whole number from 1 to 256
          nodes: [2] | 1:8 nodes: must be a whole number from 1 to 256, not a list
          nodes: {a: 2} | 1:8 nodes: must be a whole number from 1 to 256, not keys with values
          gpus: H100x8 y | 1:7 gpus: must be GPUs per node: MODEL:COUNT, COUNT or MODEL, not H100x8 y
          gpus: 1025 | 1:7 gpus: must be GPUs per node: MODEL:COUNT, COUNT or MODEL, not 1025
          lease: {for: 12} | 1:14 lease.for: must be a duration such as 90s, 30m or 1d12h, not 12
          lease: 12h | 1:8 lease: must be keys with values: for, idle, warn, at-end
          lease: {at-end: requeu} | 1:17 lease.at-end: must be one of requeue, not requeu, did you mean requeue?
          git: {history: 0} | 1:16 git.history: must be a number of commits such as 1000, or all, or none, not 0
          sync: {edit: -1} | 1:14 sync.edit: must be a whole number from 0 to 255, not -1
          sync: {edit: one} | 1:14 sync.edit: must be a whole number from 0 to 255, not one
          sync: {ask-over: 50 parsecs} | 1:18 sync.ask-over: must be a size such as 500kB, 50MB or 2GiB, not 50 parsecs
          sync: {ask-over: 50iB} | 1:18 sync.ask-over: must be a size such as 500kB, 50MB or 2GiB, not 50iB
          sync: {ask-over: 9000000TiB} | 1:18 sync.ask-over: must be a size such as 500kB, 50MB or 2GiB, not 9000000TiB
          sync: {mode: manuel} | 1:14 sync.mode: must be one of live, manual, not manuel, did you mean manual?
          run: {mode: ranks} | 1:7 run.mode: was removed; delete the line; torchrun starts the ranks where torch is installed
          run: {warn: USR1} | 1:13 run.warn: must be a signal and how long before the end it comes, such as USR1@10m, not USR1
          run: {warn: KILL@5m} | 1:13 run.warn: must be a signal and how long before the end it comes, such as USR1@10m, not KILL@5m
          run: {warn: USR1@60d} | 1:13 run.warn: must be a signal and how long before the end it comes, such as USR1@10m, not USR1@60d
          lease: {warn: 5m} | 1:15 lease.warn: must be a list of durations, such as [30m, 5m], not 5m
          lease: {warn: []} | 1:15 lease.warn: must be a list of durations, such as [30m, 5m], not a list of 0
          lease: {warn: [5]} | 1:16 lease.warn: must be a duration such as 90s, 30m or 1d12h, not 5
          outputs: runs | 1:10 outputs: must be a folder on the nodes, /PATH or ~/PATH, where $USER and $HOME are replaced, or a volume, pvc/CLAIM/FOLDER, not runs
          outputs: ./runs | 1:10 outputs: must be a folder on the nodes, /PATH or ~/PATH, where $USER and $HOME are replaced, or a volume, pvc/CLAIM/FOLDER, not ./runs
          outputs: $USER/runs | 1:10 outputs: must be a folder on the nodes, /PATH or ~/PATH, where $USER and $HOME are replaced, or a volume, pvc/CLAIM/FOLDER, not $USER/runs
          outputs: ~ann/runs | 1:10 outputs: must be a folder on the nodes, /PATH or ~/PATH, where $USER and $HOME are replaced, or a volume, pvc/CLAIM/FOLDER, not ~ann/runs
          outputs: /s/$PROJECT/runs | 1:10 outputs: $PROJECT is not known here; only $USER and $HOME are replaced
          outputs: /s/$USERS | 1:10 outputs: $USERS is not known here; only $USER and $HOME are replaced
          shm: 1Gi | 1:1 shm: not supported yet: choosing the size of /dev/shm
          mounts: /x | 1:9 mounts: must be places of data by name, such as {data: /scratch/$USER/c4}, not /x
          mounts: {data: c4} | 1:16 mounts.data: must be a folder on the nodes, /PATH or ~/PATH, or a volume, pvc/CLAIM/FOLDER or pvc/CLAIM:ro, not c4
          mounts: {data: [c4]} | 1:10 mounts.data: must be a folder on the nodes, /PATH or ~/PATH, or a volume, pvc/CLAIM/FOLDER or pvc/CLAIM:ro
          mounts: {data: '/s/{user}'} | 1:16 mounts.data: has {user} or the like; write $USER
          mounts: {run: /c4} | 1:10 mounts.run: cannot be the name of data: a-z, 0-9 and '_', at most 32, and none of agent, gang, home, launcher, mark, node, node_addrs, nodes, output, outputs, prompt, restart, run, session, workspace
          outputs: pvc/shared:ro | 1:10 outputs: is written, so that it cannot be read-only: pvc/shared:ro
          home: /data/home | 1:7 home: must be a volume, such as pvc/home-{user}, not /data/home
          python: {venv: [x]} | 1:16 python.venv: must be text, not a list
          setup: pip install . | 1:8 setup: must be keys with values: run, when
          python: [a] | 1:9 python: must be text, not a list
          python: '' | 1:9 python: must be text of 1 to 4096 characters without NUL
          env: [A] | 1:6 env: must be variables with values, such as {OMP_NUM_THREADS: 8}, not a list
          env: {1A: x} | 1:7 env.1A: a variable's name is letters, digits and '_', no digit first
          env: {A: [x]} | 1:10 env.A: must be text, not a list
          env: {A: } | 1:9 env.A: has no value; write "" for an empty one
          backends: hpc | 1:11 backends: must be a list of backend names, such as [hpc, local], not hpc
          backends: [] | 1:11 backends: must be a list of backend names, such as [hpc, local], not 0 names
          backends: [locl] | 1:12 backends: no backend locl is configured in config.yaml, did you mean local?
          backends: [local, local] | 1:19 backends: local is listed twice
          backends: [Local] | 1:12 backends: must be the name of a backend: a-z, 0-9 and '-', at most 32
          backends: {hpc: {kind: slurm}} | 1:11 backends: must be a list of backend names, such as [hpc, local]; backends are defined in config.yaml
          defaults: {nodes: 2} | 1:1 defaults: belongs in config.yaml, not in gpush.yaml
          inherits: helo | 1:11 inherits: there is no template helo; gpush templates lists them, did you mean hello?
          inherits: ../x | 1:11 inherits: must be the name of a template: a-z, 0-9 and '-', at most 32, not ../x
          nodes: 1⏎nodes: 2 | 2:1 nodes: is given twice, first in line 1
          lease:⏎  for: 1h⏎  for: 2h | 3:3 lease.for: is given twice, first in line 2
          - nodes | 1:1 must be keys with values, such as nodes: 2
          nodes | 1:1 must be keys with values, such as nodes: 2
          ? [a]⏎: b | 1:3 a key must be a word
          nodes: !!int 2 | 1:8 nodes: tags such as !!int are not supported
          nodes: *n | 1:8 nodes: refers to an anchor that is not defined above it
          nodes: 1⏎---⏎nodes: 2 | 2:1 a second document starts; a file has only one
          lease:⏎→for: 1h | 2:1 a tab; YAML is indented with spaces
          nodes: 1⏎ gpus: 2 | 2:6 is not YAML: mapping values are not allowed here
          nodes: [1 | 1:10 is not YAML: expected ',' or ']', but got <stream end>
          nodes: "1 | 1:10 is not YAML: found unexpected end of stream
          """)
  void saysWhatIsWrongInAProjectFile(String yaml, String problem) {
    Folders folders = folders().with("gpush.yaml", text(yaml));

    assertEquals("gpush.yaml:" + problem, folders.problems().getFirst());
    editorsToo(Place.PROJECT, text(yaml), problem);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          nodes: 2 | 1:1 nodes: belongs in gpush.yaml, not in config.yaml, did you mean defaults.nodes?
          python: x | 1:1 python: belongs in gpush.yaml, not in config.yaml
          defaults: {noeds: 2} | 1:12 defaults.noeds: unknown key, did you mean nodes?
          defaults: {run: {mode: auto}} | 1:18 defaults.run.mode: was removed; delete the line; torchrun starts the ranks where torch is installed
          defaults: {notify: x} | 1:12 defaults.notify: not supported yet: notifications
          gateway: {record: none} | 1:11 gateway.record: was removed; delete the line, and record a terminal with asciinema
          gateway: {principals: [ann]} | 1:11 gateway.principals: was removed; delete the line; only the key of $GPUSH_HOME logs in, which ssh finds by itself
          gateway: {audit: none} | 1:11 gateway.audit: was removed; delete the line; gpush gateway logs has who connected
          gateway: {compatibility: legacy} | 1:11 gateway.compatibility: was removed; delete the line, and use a client that has curve25519 and Ed25519
          gateway: {recrod: none} | 1:11 gateway.recrod: unknown key
          defaults: {backends: [hcp]} | 1:23 defaults.backends: no backend hcp is configured in config.yaml
          default: {nodes: 2} | 1:1 default: unknown key, did you mean defaults?
          backends: local | 1:11 backends: must be keys with values: hpc: {kind: local}
          backends: {hpc: slurm} | 1:17 backends.hpc: must be keys with values: {kind: local}
          backends: {HPC: {kind: local}} | 1:12 backends.HPC: a backend's name is a-z, 0-9 and '-', at most 32
          backends: {hpc: {kind: slum}} | 1:24 backends.hpc.kind: must be one of local, ssh, slurm, kubernetes, not slum, did you mean slurm?
          backends: {hpc: {kind: slurm, exclusive: 1}} | 1:42 backends.hpc.exclusive: must be true or false, not 1
          backends: {hpc: {kind: slurm, partition: []}} | 1:42 backends.hpc.partition: must be text, or a list of texts, not a list of 0
          backends: {hpc: {type: slurm}} | 1:18 backends.hpc.type: unknown key, did you mean kind?
          backends: {hpc: {kind: slurm, type: x}} | 1:31 backends.hpc.type: unknown key, did you mean kind?
          backends: {cw: {kind: kubernetes, pod: {patch: ~/p.yaml}}} | 1:48 backends.cw.pod.patch: must be a path; a relative one starts at the folder of this file, not ~/p.yaml
          backends: {here: {nodes: 2}} | 1:18 backends.here: has no kind; write kind: local
          backends: {here: {kind: local, node: 2}} | 1:32 backends.here.node: unknown key, did you mean nodes?
          backends: {r: {kind: ssh, scratch: gpush}} | 1:36 backends.r.scratch: must be a folder on the nodes, /PATH or ~/PATH, where the node's variables are replaced, not gpush
          backends: {r: {kind: ssh, scratch: "/nvme/{user}"}} | 1:36 backends.r.scratch: has {user} or the like; write $USER
          backends: {here: {kind: local, locks: x}} | 1:39 backends.here.locks: must be an absolute path, not x
          limits: {nodes: 2} | 1:1 limits: belongs in site.yaml, not in config.yaml
          """)
  void saysWhatIsWrongInAPersonsFile(String yaml, String problem) {
    Folders folders = folders().with("gpush.yaml", "").with("config.yaml", text(yaml));

    assertEquals(List.of("config.yaml:" + problem), folders.problems());
    editorsToo(Place.PERSON, text(yaml), problem);
  }

  private static void editorsToo(Place place, String yaml, String problem) {
    boolean isAccepted = EditorCheck.problems(place, yaml).isEmpty();
    assertEquals(BEYOND_SCHEMAS.matcher(problem).find(), isAccepted);
  }

  @Test
  void reportsAllProblemsOfAllFilesAtOnce() {
    Folders folders =
        folders()
            .with("gpush.local.yaml", "nodes: many\n")
            .with("gpush.yaml", "inherits: mine\ngpus: [1]\n")
            .with("mine.yaml", "# mine\nlese: {}\n")
            .with("config.yaml", "defaults:\n  nodes: 2\n  gpu: 8\n")
            .with("site.yaml", "locked: [nodes]\n");

    assertEquals(
        List.of(
            "gpush.local.yaml:1:8 nodes: must be a whole number from 1 to 256, not many",
            "gpush.yaml:2:7 gpus: must be GPUs per node: MODEL:COUNT, COUNT or MODEL, not a list",
            "mine.yaml:2:1 lese: unknown key, did you mean lease?",
            "config.yaml:3:3 defaults.gpu: unknown key, did you mean gpus?",
            "site.yaml:1:1 locked: not supported yet: settings that a site locks"),
        folders.problems());
  }

  @Test
  void aTemplateThatInheritsItselfIsACircle() {
    Folders folders =
        folders()
            .with("gpush.yaml", "inherits: a\n")
            .with("a.yaml", "inherits: b\n")
            .with("b.yaml", "inherits: a\n");

    assertEquals(
        List.of("b.yaml:1:11 inherits: inherits in a circle, or more than 8 times"),
        folders.problems());
  }

  @Test
  void textThatIsNotUtf8IsNamedWithItsPlace() {
    byte[] latin = "nodes: 1\n# caf\u00e9\n".getBytes(StandardCharsets.ISO_8859_1);

    assertEquals(
        List.of("gpush.yaml:2:6 is not UTF-8 text: byte 0xE9"),
        folders().with("gpush.yaml", latin).problems());
  }

  @Test
  void aCharacterThatYamlForbidsIsNamedWithItsPlace() {
    assertEquals(
        List.of("gpush.yaml:2:7 the character U+0000 is not allowed in YAML"),
        folders().with("gpush.yaml", "nodes: 1\ngpus: \0\n").problems());
  }

  @Test
  void aFileThatIsTooLargeIsNotRead() {
    byte[] large = new byte[(1 << 20) + 1];

    assertEquals(
        List.of("gpush.yaml:1:1 is larger than 1 MB; settings are not"),
        folders().with("gpush.yaml", large).problems());
  }

  @Test
  void aBombOfAliasesIsOneProblemAndCostsNothing() {
    var bomb = new StringBuilder("a0: &a0 [x, x]\n");
    for (int i = 1; i < 60; i++) {
      bomb.append("a%d: &a%d [*a%d, *a%d]\n".formatted(i, i, i - 1, i - 1));
    }

    List<String> problems = folders().with("gpush.yaml", bomb + "nodes: *a59\n").problems();

    assertEquals(61, problems.size());
    assertEquals(
        "gpush.yaml:61:8 nodes: must be a whole number from 1 to 256, not a list",
        problems.getLast());
  }

  @Test
  void whatIsDeepOrEndlessIsCutOff() {
    assertTrue(
        folders()
            .with("gpush.yaml", "nodes: " + "[".repeat(100_000))
            .problems()
            .getFirst()
            .startsWith("gpush.yaml:1:39 nodes: is nested deeper than 32 levels"));
    assertEquals(
        "gpush.yaml:9999:3 nodes: more than 10000 values in one file",
        folders().with("gpush.yaml", "nodes:\n" + "- 1\n".repeat(50_000)).problems().getFirst());
  }

  @Test
  void whatIsNoFileOrNotOursIsUnreadable() throws Exception {
    Folders folders = folders().with("gpush.yaml", "");
    Path config = folders.home().resolve("config.yaml");
    Files.createDirectories(config);

    GpushException thrown = assertThrows(GpushException.class, folders::load);

    assertEquals(
        new ConfigFailure.Unreadable(config.toString(), "it is not a file"),
        assertInstanceOf(ConfigFailure.Unreadable.class, thrown.failure()));
    assertEquals(ExitStatus.USAGE, thrown.failure().exit());
  }

  private static String text(String cell) {
    return cell.replace('⏎', '\n').replace('→', '\t');
  }
}
