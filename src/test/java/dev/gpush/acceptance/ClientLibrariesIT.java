package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
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

/** The libraries that editors and tools are built on, each in a program that uses it as they do. */
@Timeout(900)
@Execution(ExecutionMode.SAME_THREAD)
final class ClientLibrariesIT {
  private static final byte[] NO_INPUT = new byte[0];

  private Path rig;
  private World world;
  private String port;
  private Path key;

  @BeforeEach
  void begin() throws Exception {
    Optional<String> made = World.rig("clients");
    Assumptions.assumeTrue(made.isPresent(), "the clients rig is down");
    rig = Path.of(made.orElseThrow());
    world = World.fresh();
  }

  @AfterEach
  void end() throws Exception {
    if (world != null) {
      world.close();
    }
  }

  private void up() throws Exception {
    world.gpush("up", "--nodes", "1").succeeded();
    port = Files.readString(world.home().resolve("ssh_port")).strip();
    key = world.home().resolve("keys/id_ed25519");
  }

  private Result run(String... command) throws Exception {
    return world.run(NO_INPUT, command);
  }

  private void saysAll(String... command) throws Exception {
    Result result = run(command).succeeded();
    assertTrue(result.out().endsWith("all\n"), result::toString);
  }

  private static String program(String name) {
    return World.repository().resolve("src/test/resources/clients").resolve(name).toString();
  }

  private Path hostKey(String kind) {
    return world.home().resolve("keys/ssh_host_" + kind + "_key.pub");
  }

  private static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }

  private String jars(String of) {
    return rig.resolve("jars").resolve(of) + "/*";
  }

  /** Go's x/crypto/ssh and pkg/sftp. */
  @Test
  void goPrograms() throws Exception {
    up();
    String built = world.project().resolveSibling("client").toString();
    String build = "cd \"$1\" && GOFLAGS=-mod=mod go build -o \"$2\" \"$3\"";
    run("bash", "-c", build, "bash", rig.resolve("go").toString(), built, program("go_client.go"))
        .succeeded();

    saysAll(built, port, "devbox", key.toString(), hostKey("ed25519").toString());
  }

  /** What open-remote-ssh, and with it several editors, is built on. */
  @Test
  void ssh2OfNpm() throws Exception {
    up();
    saysAll(
        "node",
        program("ssh2_client.js"),
        port,
        "devbox",
        key.toString(),
        rig.resolve("node_modules").toString());
  }

  /** What JetBrains' IDEs are built on. */
  @Test
  void sshj() throws Exception {
    up();
    String line = run("ssh-keygen", "-lf", hostKey("ed25519").toString()).succeeded().out();
    saysAll(
        java(),
        "-cp",
        jars("sshj"),
        program("SshjClient.java"),
        port,
        "devbox",
        key.toString(),
        line.split(" ", -1)[1],
        world.project().resolveSibling("").toString());
  }

  private Path knownHosts(String kind) throws IOException {
    Path file = world.project().resolveSibling("known_hosts_" + kind);
    Files.writeString(file, "[127.0.0.1]:" + port + " " + Files.readString(hostKey(kind)));
    return file;
  }

  private String[] jsch(String which, Path identity, String hostKey) throws IOException {
    return new String[] {
      java(),
      "-cp",
      jars(which),
      program("JschClient.java"),
      port,
      "devbox",
      identity.toString(),
      knownHosts(hostKey).toString()
    };
  }

  @Test
  void jsch() throws Exception {
    up();
    saysAll(jsch("jsch", key, "ed25519"));
  }

  /** It has none of our key exchanges, and no Ed25519. */
  @Test
  void theLastJschOfItsFirstAuthorNeedsLegacy() throws Exception {
    up();
    Path old = world.project().resolveSibling("old_key");
    run("ssh-keygen", "-q", "-tecdsa", "-mPEM", "-N", "", "-C", "old", "-f", old.toString())
        .succeeded();
    Path authorized = world.home().resolve("authorized_keys");
    Files.copy(Path.of(old + ".pub"), authorized);
    Files.setPosixFilePermissions(authorized, PosixFilePermissions.fromString("rw-------"));
    Result refused = run(jsch("jsch-old", old, "ed25519")).exits(1);
    assertTrue(refused.err().contains("Algorithm negotiation fail"), refused::toString);

    world.gpush("gateway", "stop").succeeded();
    Files.writeString(world.home().resolve("config.yaml"), "gateway: {compatibility: legacy}\n");
    world.gpush("ps").succeeded();
    port = Files.readString(world.home().resolve("ssh_port")).strip();

    saysAll(jsch("jsch-old", old, "ecdsa"));
  }

  private static byte[] random(int size) {
    var data = new byte[size];
    new Random(size).nextBytes(data);
    return data;
  }

  /** libssh2, as curl has it. */
  @Test
  void curl() throws Exception {
    up();
    String there = run(with(world.ssh("devbox"), "mktemp -d")).succeeded().out().strip();
    byte[] data = random(5_000_000);
    Files.write(world.project().resolve("big"), data);
    List<String> curl =
        List.of("curl", "-sS", "--insecure", "--key", key.toString(), "--pubkey", key + ".pub");
    String url = "sftp://devbox@127.0.0.1:" + port + there + "/big";

    run(with(curl, "-T", "big", url)).succeeded();
    run(with(curl, "-o", "back", url)).succeeded();

    assertArrayEquals(data, Files.readAllBytes(world.project().resolve("back")));
    run(with(world.ssh("devbox"), "rm -r " + there)).succeeded();
  }

  @Test
  void sshfs() throws Exception {
    Assumptions.assumeTrue(Files.isWritable(Path.of("/dev/fuse")), "there is no /dev/fuse");
    up();
    String script =
        """
        set -e
        mounted=$(mktemp -d)
        sshfs -F "$1" "devbox:$2" "$mounted"
        trap 'cd /; fusermount3 -u "$mounted" || fusermount -u "$mounted"; rmdir "$mounted"' EXIT
        cd "$mounted"
        seq 100000 > numbers
        for n in $(seq 100); do echo "$n" > "small $n"; done
        mv 'small 1' renamed; ln -s renamed link; chmod 600 'small 2'; rm 'small 3'
        git init -q -b main . && git -c user.name=me -c user.email=me@example.org add .
        """;
    String there = run(with(world.ssh("devbox"), "mktemp -d")).succeeded().out().strip();

    run("bash", "-c", script, "bash", world.sshConfig().toString(), there).succeeded();

    String seen = "cd " + there + " && seq 100000 | cmp - numbers && cat link && ls | wc -l";
    assertEquals("1\n101\n", run(with(world.ssh("devbox"), seen)).succeeded().out());
    run(with(world.ssh("devbox"), "git -C " + there + " ls-files | wc -l; rm -rf " + there))
        .succeeded();
  }

  /**
   * Its connections are shared ones, it asks for terminals, and it copies by sftp. With {@code
   * become} it talks to sudo through a terminal, or pipes its modules into it.
   */
  @Test
  void ansible() throws Exception {
    Assumptions.assumeTrue(World.rig("editors").isPresent(), "the editors rig is down: no sudo");
    up();
    String there = run(with(world.ssh("devbox"), "mktemp -d")).succeeded().out().strip();
    world.file(
        "inventory",
        "[all]\ndevbox ansible_ssh_common_args='-F "
            + world.sshConfig()
            + "' ansible_python_interpreter=/usr/bin/python3\n");
    world.file(
        "play.yaml",
        """
        - hosts: all
          gather_facts: true
          tasks:
            - ping:
            - copy: {src: play.yaml, dest: %1$s/copied}
            - command: cat %1$s/copied
              register: seen
            - assert: {that: "'gather_facts' in seen.stdout"}
            - fetch: {src: %1$s/copied, dest: fetched, flat: true}
            - copy: {content: "by sudo", dest: %1$s/owned, owner: nobody, mode: "0600"}
              become: true
            - command: id -un
              become: true
              become_user: nobody
              vars: {ansible_ssh_pipelining: true}
              register: other
            - assert: {that: "other.stdout == 'nobody'"}
            - stat: {path: %1$s/owned}
              register: owned
            - assert: {that: "owned.stat.pw_name == 'nobody'"}
            - file: {path: %1$s, state: absent}
        """
            .formatted(there));
    String own = world.project().resolveSibling("ansible").toString();

    run(
            "env",
            "ANSIBLE_HOME=" + own,
            "ANSIBLE_LOCAL_TEMP=" + own,
            rig.resolve("bin/ansible-playbook").toString(),
            "-i",
            "inventory",
            "play.yaml")
        .succeeded();

    assertEquals(
        Files.readString(world.project().resolve("play.yaml")),
        Files.readString(world.project().resolve("fetched")));
  }

  private static String[] with(List<String> command, String... more) {
    var words = new ArrayList<>(command);
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }
}
