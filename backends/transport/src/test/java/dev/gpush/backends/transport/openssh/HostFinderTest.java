package dev.gpush.backends.transport.openssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.setup.HostSource;
import dev.gpush.core.setup.HostSource.ListedHost;
import dev.gpush.core.setup.PlaceCheck;
import dev.gpush.core.setup.PlaceFinder;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.SetupQuestion;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.fake.ChildPipe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Hosts behind an ssh that is a script: each host is a folder of programs on this machine. */
final class HostFinderTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** HOST.meaning is what -G prints, HOST.errors what a connection fails with. */
  private static final String SSH =
      """
      dir=$1; shift
      printf '%s\\n' "$*" >> "$dir/calls"
      before=
      for word; do [ "$before" != -- ] || host=$word; before=$word; done
      case " $* " in *' -G '*) cat "$dir/$host.meaning"; exit ;; esac
      [ ! -f "$dir/$host.errors" ] || { cat "$dir/$host.errors" >&2; exit 255; }
      PATH=$dir/$host:$PATH exec sh -s
      """;

  @TempDir private Path home;
  private final Tasks tasks = Tasks.named("test", (_, _) -> {});
  private final List<ListedHost> others = new ArrayList<>();

  @BeforeEach
  void anSsh() throws IOException {
    Files.writeString(home.resolve("ssh"), SSH);
    Files.createDirectories(home.resolve(".ssh"));
  }

  @AfterEach
  void end() {
    tasks.close();
  }

  private void config(String text) throws IOException {
    Files.writeString(home.resolve(".ssh/config"), text);
  }

  private void host(String name, String meaning) throws IOException {
    Files.createDirectories(home.resolve(name));
    Files.writeString(home.resolve(name + ".meaning"), "user ann\nport 22\n" + meaning);
  }

  private void program(String host, String name, String body) throws IOException {
    Path file = home.resolve(host).resolve(name);
    Files.writeString(file, "#!/bin/sh\n" + body);
    assertTrue(file.toFile().setExecutable(true));
  }

  private List<PlaceCheck> checks(String... names) {
    PlaceFinder contexts = _ -> List.of(PlaceCheck.unasked("prod", "~/.kube/config", "", ""));
    HostSource source = _ -> List.copyOf(others);
    Launch launch =
        (words, environment) -> {
          var command =
              new ArrayList<>(List.of("sh", home.resolve("ssh").toString(), home.toString()));
          command.addAll(words.subList(1, words.size()));
          return ChildPipe.start(command, environment);
        };
    var finder =
        new HostFinder(home, home.resolve("ssh_config"), List.of(source), contexts, launch, tasks);
    Map<String, String> environment = Map.of("PATH", System.getenv("PATH"));
    return finder.checks(new SetupQuestion(home, home, environment, List.of(names)));
  }

  private List<PlaceFinding> found(String... names) throws InterruptedException {
    var found = new ArrayList<PlaceFinding>();
    for (PlaceCheck check : checks(names)) {
      found.add(check.inspection().look(LIMIT));
    }
    return found;
  }

  private String calls() throws IOException {
    Path calls = home.resolve("calls");
    return Files.exists(calls) ? Files.readString(calls) : "";
  }

  @Test
  void namesComeFromAllFilesAndPatternsAreNone() throws Exception {
    config(
        """
        Include extra_* "%s" x[1 */conf?g
        Host hpc gpu01 gpu* !gpu02 *.lab
        Host=quoted # comment
        """
            .formatted(home.resolve("ssh_config")));
    Files.writeString(home.resolve(".ssh/extra_b"), "host b\n");
    Files.writeString(home.resolve(".ssh/extra_a"), "HOST a hpc\n");
    Files.createDirectories(home.resolve(".ssh/work"));
    Files.writeString(home.resolve(".ssh/work/config"), "Host deep\n");
    Files.writeString(home.resolve("ssh_config"), "Host devbox\nMatch exec \"gpush\"\n");
    others.add(new ListedHost("ml@10.0.0.7", Optional.of("pool"), "~/.sky"));

    assertEquals(
        List.of("ml@10.0.0.7", "a", "hpc", "b", "deep", "gpu01", "quoted"),
        checks().stream().map(PlaceCheck::name).toList());
    assertEquals("~/.ssh/config:3", checks().getLast().origin());
    assertEquals("", calls());
  }

  @Test
  void aLoginAnswersWithSinfoAndAMachineWithItsGpus() throws Exception {
    config("Host hpc gpu01 plain forge\n");
    host("hpc", "hostname login.lab\n");
    program("hpc", "sinfo", "printf 'cpu|(null)\\ngpu|gpu:a100:4(S:0-1)\\n'");
    program("hpc", "scontrol", "echo 'ClusterName             = alpha'");
    program("hpc", "nvidia-smi", "echo 'No devices were found'; exit 6");
    host("gpu01", "hostname 10.0.0.1\n");
    program("gpu01", "sinfo", "exit 1");
    program("gpu01", "nvidia-smi", "printf 'NVIDIA H100 80GB HBM3\\nNVIDIA H100 80GB HBM3\\n'");
    host("plain", "");
    program("plain", "sinfo", "exit 1");
    program("plain", "nvidia-smi", "exit 9");
    host("forge", "");
    Files.writeString(home.resolve("forge.meaning"), "user git\n");

    assertEquals(
        List.of(
            new PlaceFinding.Login(
                "hpc",
                "~/.ssh/config:1",
                "ann@login.lab:22",
                "alpha",
                List.of("cpu", "gpu (gpu:a100:4)")),
            new PlaceFinding.GpuHost(
                "gpu01",
                "~/.ssh/config:1",
                "ann@10.0.0.1:22",
                Optional.empty(),
                "2 × H100 80GB HBM3"),
            new PlaceFinding.Unusable("plain", "~/.ssh/config:1", "no GPUs and no Slurm"),
            new PlaceFinding.Unusable("forge", "~/.ssh/config:1", "is for git")),
        found());
  }

  @Test
  void aSinfoThatHangsDoesNotHideTheGpus() throws Exception {
    config("Host gpu01\n");
    host("gpu01", "");
    program("gpu01", "nvidia-smi", "echo L4");
    program("gpu01", "sinfo", "exec tail -f /dev/null");
    program("gpu01", "timeout", "exit 124");

    assertEquals("1 × L4", ((PlaceFinding.GpuHost) found().getFirst()).gpus());
  }

  /** Such a file has ssh run a command even to say what it means. */
  @ParameterizedTest
  @ValueSource(strings = {"exec \"touch x\"", "!Exec x", "exec=x", "exec=\"touch x\""})
  void withAMatchExecNoSshIsRunUnlessTheUserNamesAHost(String criterion) throws Exception {
    config("Host gpu01\nMatch originalhost gpu* " + criterion + "\n");
    host("gpu01", "");
    program("gpu01", "nvidia-smi", "echo L4");

    assertEquals(
        List.of(
            new PlaceFinding.Unasked(
                "gpu01",
                "~/.ssh/config:1",
                "~/.ssh/config:2 has a Match exec, which runs a command",
                "gpush init gpu01")),
        found());
    assertEquals("", calls());

    assertEquals("1 × L4", ((PlaceFinding.GpuHost) found("gpu01").getFirst()).gpus());
  }

  @ParameterizedTest
  @ValueSource(strings = {"${HOME}/x", "%d/x", "~root/x"})
  void aFileThatOnlySshCanFindMayHaveAMatchExec(String file) throws Exception {
    config("Host gpu01\nInclude " + file + "\n");

    assertEquals(
        "~/.ssh/config:2 includes what only ssh can find, and that may run a command",
        ((PlaceFinding.Unasked) found().getFirst()).why());
    assertEquals("", calls());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '>',
      value = {
        "proxyjump bastion > is reached through bastion",
        "proxycommand access ssh > is reached through a program (ProxyCommand)",
        "knownhostscommand /bin/keys > runs a program for host keys (KnownHostsCommand)",
        "identityagent ~/a.sock > has an agent of its own (IdentityAgent), which may ask you",
        "pubkeyauthentication false > takes no key, only what you type",
        "preferredauthentications keyboard-interactive,password > takes no key, only what you type",
      })
  void whatMayNeedTheUserIsNotTriedUnlessNamed(String meaning, String why) throws Exception {
    config("Host gpu01\n");
    host("gpu01", meaning + "\n");
    program("gpu01", "nvidia-smi", "echo L4");

    assertEquals(
        List.of(new PlaceFinding.Unasked("gpu01", "~/.ssh/config:1", why, "gpush init gpu01")),
        found());
    assertEquals(1, calls().lines().count(), "only ssh -G");

    assertEquals("1 × L4", ((PlaceFinding.GpuHost) found("gpu01").getFirst()).gpus());
  }

  @Test
  void aLookAsksNobodyAndStartsNothingOfTheConfiguration() throws Exception {
    config("Host gpu01\n");
    host("gpu01", "");

    found();

    String look = calls().lines().toList().getLast();
    for (String option :
        List.of(
            "BatchMode=yes",
            "PreferredAuthentications=gssapi-with-mic,hostbased,publickey",
            "PubkeyAcceptedKeyTypes=-sk-*",
            "PKCS11Provider=none",
            "StrictHostKeyChecking=yes",
            "CheckHostIP=no",
            "ControlMaster=no",
            "PermitLocalCommand=no",
            "ClearAllForwardings=yes")) {
      assertTrue(look.contains("-o " + option), option);
    }

    found("gpu01");

    look = calls().lines().toList().getLast();
    assertTrue(look.contains("BatchMode=yes"), look);
    assertFalse(look.contains("PubkeyAcceptedKeyTypes"), "the user's own keys and algorithms");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '>',
      value = {
        "a@h: Permission denied (publickey,keyboard-interactive). > asks for keyboard-interactive",
        "a@h: Permission denied (publickey). > accepts none of your keys",
        "Host key verification failed. > has a host key that is new",
      })
  void aLoginThatFailsSaysWhatToDo(String error, String why) throws Exception {
    config("Host gpu01\n");
    host("gpu01", "");
    Files.writeString(home.resolve("gpu01.errors"), error + "\n");

    var unasked = (PlaceFinding.Unasked) found().getFirst();

    assertEquals(why, unasked.why());
    assertFalse(unasked.remedy().isEmpty());
  }

  @Test
  void ofTheNamesThatNoFileOfSshHasContextsAreNoHosts() {
    assertEquals(
        List.of("unknown"), checks("prod", "unknown").stream().map(PlaceCheck::name).toList());
  }

  @Test
  void moreHostsThanOneCanLookAtAreCounted() throws Exception {
    config("Host " + String.join(" ", IntStream.range(0, 612).mapToObj(i -> "h" + i).toList()));

    List<PlaceCheck> checks = checks();

    assertEquals(501, checks.size());
    assertEquals("112 hosts", checks.getLast().name());
  }
}
