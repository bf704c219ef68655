package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.launcher.BuiltWheel;
import dev.gpush.testkit.rig.KubernetesRig;
import dev.gpush.testkit.rig.SlurmRig;
import dev.gpush.testkit.rig.SshRig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * The first hour of a user on each backend, from an empty home and the wheel: every command that is
 * typed is in the README, or the output before it has shown it. What was seen is in {@code
 * target/first-hour}.
 */
@Timeout(900)
final class FirstHourIT {
  private static final String TRAIN =
      """
      import argparse, os, socket

      parser = argparse.ArgumentParser()
      parser.add_argument("--lr", type=float, default=0.1)
      args = parser.parse_args()
      rank, size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
      for step in range(3):
          print(f"step {step} lr {args.lr} rank {rank} of {size}", flush=True)
      """;

  @TempDir private static Path installation;

  @BeforeAll
  static void install() throws Exception {
    Optional<String> missing = Terminal.missing();
    assumeTrue(missing.isEmpty(), missing.orElse(""));
    BuiltWheel.installed(BuiltWheel.in(installation), installation.resolve("venv"));
  }

  @Test
  @Tag("local")
  void onThisMachine() throws Exception {
    try (Hour hour = Hour.begin("local", Map.of())) {
      hour.types("gpush init");
      hour.worksIn("gpush up", "on local");
    }
  }

  /** The user has a rack in the ssh configuration before there is gpush. */
  @Test
  @Tag("hosts")
  @ResourceLock(SshRig.NAME)
  void onHostsOfASshConfiguration() throws Exception {
    SshRig rig = SshRig.required();
    var home = Map.of(".ssh/config", Files.readString(rig.config()));
    try (Hour hour = Hour.begin("ssh", home)) {
      hour.asks("gpush init", "y");
      hour.worksIn("gpush up --gpus 1", "on h");
    }
  }

  /** The user has a login node in the ssh configuration before there is gpush. */
  @Test
  @Tag("slurm")
  @ResourceLock(SlurmRig.DEFAULT)
  void onSlurm() throws Exception {
    SlurmRig rig = SlurmRig.of("default");
    var home = Map.of(".ssh/config", Files.readString(rig.sshConfig()));
    try (Hour hour = Hour.begin("slurm", home)) {
      hour.asks("gpush init", "y");
      hour.worksIn("gpush up --gpus 1", "on login");
    }
  }

  /** The user has a kubeconfig before there is gpush. */
  @Test
  @Tag("kubernetes")
  @ResourceLock(KubernetesRig.PLAIN)
  void onKubernetes() throws Exception {
    KubernetesRig rig = KubernetesRig.of("plain");
    var home = Map.of(".kube/config", Files.readString(rig.kubeconfig()));
    try (Hour hour = Hour.begin("kubernetes", home)) {
      hour.asks("gpush init", "y");
      // The cluster reaches no registry; the comment beside this key says that it is the user's.
      hour.says("# yours");
      hour.edits(".gpush/config.yaml", "python:3.13-slim", "rig.local/node:1");
      hour.worksIn("gpush up --gpus 1", "on rig");
    }
  }

  /** A user at a terminal, who knows the README and what is on the screen. */
  private record Hour(String backend, World world, Terminal terminal) implements AutoCloseable {
    static Hour begin(String backend, Map<String, String> files) throws Exception {
      World world = World.withHome("person/.gpush");
      for (var file : files.entrySet()) {
        Path path = world.person().resolve(file.getKey());
        Files.createDirectories(path.resolveSibling("."));
        Files.writeString(path, file.getValue());
      }
      Path project = Files.createDirectory(world.person().resolve("proj"));
      Files.writeString(project.resolve("train.py"), TRAIN);
      for (List<String> words :
          List.of(
              List.of("init", "-q"),
              List.of("add", "."),
              List.of("-c", "user.name=ann", "-c", "user.email=ann@x", "commit", "-qm", "start"))) {
        var git = new ArrayList<>(List.of("git", "-C", project.toString()));
        git.addAll(words);
        world.run(new byte[0], git.toArray(String[]::new)).succeeded();
      }
      var environment = new HashMap<String, String>();
      environment.put("HOME", world.person().toString());
      environment.put("PATH", installation.resolve("venv/bin") + ":/usr/bin:/bin");
      environment.put("LANG", "C.UTF-8");
      environment.put("SHELL", "/bin/bash");
      // To prepare a cache takes minutes of both processors.
      environment.put("GPUSH_AOT", "0");
      return new Hour(backend, world, Terminal.open(world, project, environment));
    }

    /** What a user does in the first hour, once gpush is installed and set up. */
    void worksIn(String up, String where) throws Exception {
      types(up);
      says(where);
      types("gpush run train.py");
      says("[0] step 2 lr 0.1 rank 0 of 1");
      edits("proj/train.py", "0.1", "0.2");
      types("gpush run");
      says("[0] step 2 lr 0.2 rank 0 of 1");
      asks("gpush link", "y");
      typesWith("ssh devbox", "hostname");
      ends("gpush code", 3);
      types("gpush code --print");
      types("gpush ps");
      watches("gpush top", "q quit", "q");
      types("gpush why");
      types("gpush down");
      says("devbox is given back");
    }

    /** A command that succeeds. */
    void types(String command) throws Exception {
      ends(command, 0);
    }

    void ends(String command, int status) throws Exception {
      isKnown(command);
      terminal.type(command);
      succeeds(status);
    }

    private void succeeds(int status) throws Exception {
      int ended = terminal.ended();
      String seen = terminal.seen();
      assertEquals(status, ended, seen);
    }

    /** A command that is known, with words that are the user's own. */
    void typesWith(String command, String own) throws Exception {
      isKnown(command);
      terminal.type(command + " " + own);
      succeeds(0);
    }

    /** A command that asks a question. */
    void asks(String command, String answer) throws Exception {
      isKnown(command);
      terminal.type(command);
      terminal.shows("[y/N]");
      terminal.type(answer);
      succeeds(0);
    }

    /** A command with a screen of its own, which says how to leave it. */
    void watches(String command, String help, String key) throws Exception {
      isKnown(command);
      terminal.type(command);
      terminal.shows(help);
      terminal.press(key);
      succeeds(0);
    }

    /** With an editor, which is not part of the story. */
    void edits(String name, String before, String after) throws IOException {
      Path file = world.person().resolve(name);
      Files.writeString(file, Files.readString(file).replace(before, after));
    }

    void says(String text) throws Exception {
      String printed = terminal.printed();
      assertTrue(printed.contains(text), () -> "without " + text + ":\n" + printed);
    }

    private void isKnown(String command) throws Exception {
      String readme = Files.readString(World.repository().resolve("README.md"));
      String known = readme.replace("./gpush", "gpush") + terminal.printed();
      var words = Pattern.compile("(?<![\\w-])" + Pattern.quote(command) + "(?![\\w-])");
      assertTrue(
          words.matcher(known).find(), () -> "who would know to type " + command + "\n" + known);
    }

    @Override
    public void close() {
      try (world;
          terminal) {
        terminal.keep(World.repository().resolve("target/first-hour/" + backend + ".txt"));
      }
    }
  }
}
