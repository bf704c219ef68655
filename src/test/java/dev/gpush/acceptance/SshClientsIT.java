package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Clients other than OpenSSH's, as they are; docs/reference/ssh-clients.md has the list. */
@Timeout(300)
@Execution(ExecutionMode.SAME_THREAD)
final class SshClientsIT {
  private static final byte[] NO_INPUT = new byte[0];

  private static final String STREAMS = "echo out; echo err >&2; exit 7";

  private Path programs;
  private World world;
  private String port;
  private Path key;

  @BeforeEach
  void begin() throws Exception {
    Optional<String> rig = World.rig("clients");
    Assumptions.assumeTrue(rig.isPresent(), "the clients rig is down");
    programs = Path.of(rig.orElseThrow(), "bin");
    world = World.fresh();
    world.gpush("up", "--nodes", "1").succeeded();
    port = Files.readString(world.home().resolve("ssh_port")).strip();
    key = world.home().resolve("keys/id_ed25519");
  }

  @AfterEach
  void end() throws Exception {
    if (world != null) {
      world.close();
    }
  }

  private Result run(String... command) throws Exception {
    return world.run(NO_INPUT, command);
  }

  private static String alias(String sshConfig) {
    return sshConfig
        .lines()
        .map(String::strip)
        .filter(line -> line.startsWith("HostKeyAlias "))
        .findFirst()
        .orElseThrow()
        .split(" ")[1];
  }

  private void holds(String script) throws Exception {
    Path source = World.repository().resolve("src/test/resources/clients").resolve(script);
    Result result =
        run(
            programs.resolve("python").toString(),
            source.toString(),
            port,
            "devbox",
            key.toString(),
            world.home().resolve("known_hosts").toString(),
            alias(Files.readString(world.sshConfig())));

    assertTrue(result.succeeded().out().endsWith("all\n"), result::toString);
  }

  @Test
  void paramiko() throws Exception {
    holds("paramiko_client.py");
  }

  @Test
  void asyncssh() throws Exception {
    holds("asyncssh_client.py");
  }

  @Test
  void dropbear() throws Exception {
    String converted = world.project().resolveSibling("dropbear").toString();
    run("dropbearconvert", "openssh", "dropbear", key.toString(), converted).succeeded();
    List<String> client = List.of("dbclient", "-y", "-i", converted, "-p", port);

    saysBoth(client, "devbox@127.0.0.1");
    byte[] data = random(1_000_000);
    assertArrayEquals(data, world.bytes(data, 0, with(client, "devbox@127.0.0.1", "cat")));
  }

  @Test
  void putty() throws Exception {
    String converted = world.project().resolveSibling("key.ppk").toString();
    run("puttygen", key.toString(), "-o", converted, "-O", "private").succeeded();
    String host = world.home().resolve("keys/ssh_host_ed25519_key.pub").toString();
    String fingerprint = run("ssh-keygen", "-lf", host).succeeded().out().split(" ")[1];
    List<String> options = List.of("-batch", "-hostkey", fingerprint, "-i", converted, "-P", port);
    var plink = new ArrayList<>(List.of("plink"));
    plink.addAll(options);

    saysBoth(plink, "devbox@127.0.0.1");
    byte[] data = random(3_000_000);
    Files.write(world.project().resolve("big"), data);
    world.file("batch", "put big sent\nget sent back\nrm sent\nquit\n");
    var psftp = new ArrayList<>(List.of("psftp", "-b", "batch"));
    psftp.addAll(options);
    run(with(psftp, "devbox@127.0.0.1")).succeeded();
    assertArrayEquals(data, Files.readAllBytes(world.project().resolve("back")));
  }

  private void saysBoth(List<String> client, String host) throws Exception {
    Result result = run(with(client, host, STREAMS)).exits(7);

    assertEquals("out\n", result.out());
    assertTrue(result.err().contains("err\n"), result::toString);
  }

  private static String[] with(List<String> command, String... more) {
    var words = new ArrayList<>(command);
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }

  private static byte[] random(int size) {
    var data = new byte[size];
    new Random(size).nextBytes(data);
    return data;
  }

  @Test
  void gitPushesAndClones() throws Exception {
    String there = run(with(world.ssh("devbox"), "mktemp -d")).succeeded().out().strip();
    String ssh = "ssh -F " + world.sshConfig();
    String script =
        """
        set -e
        export GIT_SSH_COMMAND="$2" GIT_CONFIG_GLOBAL=/dev/null
        mkdir ../one && cd ../one && git init -q -b main
        git config user.name me && git config user.email me@example.org
        for n in $(seq 200); do echo "line $n" > "$n.txt"; done
        git add . && git commit -qm first
        $2 devbox "git init -q --bare -b main $1/repo"
        git push -q "devbox:$1/repo" main
        git clone -q "devbox:$1/repo" ../two
        diff -r -x .git ../one ../two
        $2 devbox "rm -r $1"
        """;

    run("bash", "-c", script, "bash", there, ssh).succeeded();
  }

  /** The client says that it was refused, and its command runs. */
  @Test
  void x11IsRefusedPolitely() throws Exception {
    var line = new ArrayList<>(List.of("env", "DISPLAY=:9"));
    line.addAll(world.ssh("-Y", "devbox", "echo $DISPLAY here"));

    Result result = run(line.toArray(String[]::new)).succeeded();

    assertEquals("here\n", result.out());
    assertTrue(
        result.err().contains("X11 forwarding request failed on channel 0"), result::toString);
  }

  @Test
  void sshAuditFindsWhatThePolicySays() throws Exception {
    String policy = World.repository().resolve("docs/reference/ssh-audit.policy").toString();

    Result result =
        run(programs.resolve("ssh-audit").toString(), "-P", policy, "-p", port, "127.0.0.1");

    assertEquals(0, result.exit(), result::toString);
    assertTrue(result.out().contains("Passed"), result::toString);
  }
}
