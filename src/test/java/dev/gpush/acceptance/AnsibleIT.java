package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Ansible as it is used, with sudo; number 29 of docs/reference/ssh-contract.md. */
@Timeout(900)
@Execution(ExecutionMode.SAME_THREAD)
@Tag("editors")
final class AnsibleIT {
  private static final byte[] NO_INPUT = new byte[0];

  private Path rig;
  private World world;

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

  private Result run(String... command) throws Exception {
    return world.run(NO_INPUT, command);
  }

  /**
   * Its connections are shared ones, it asks for terminals, and it copies by sftp. With {@code
   * become} it talks to sudo through a terminal, or pipes its modules into it.
   */
  @Test
  void ansible() throws Exception {
    Assumptions.assumeTrue(World.rig("editors").isPresent(), "the editors rig is down: no sudo");
    world.gpush("up", "--nodes", "1").succeeded();
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
