package dev.gpush.testkit.rig;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.machine.ProcessPipe;
import dev.gpush.core.text.ShellQuote;
import dev.gpush.testkit.rig.Script.Ended;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** One profile of the rig {@code src/test/rigs/slurm}: a real Slurm, reached by ssh. */
public final class SlurmRig {
  /** For {@code @ResourceLock}: a cluster is the same for all who use it. */
  public static final String DEFAULT = "rig slurm default";

  public static final String LIMITS = "rig slurm limits";

  public static final String MANY = "rig slurm many";

  public static final String TWO = "rig slurm two";

  public static final String WIDE = "rig slurm wide";

  private final String profile;
  private final Path sshConfig;

  private SlurmRig(String profile, Path sshConfig) {
    this.profile = profile;
    this.sshConfig = sshConfig;
  }

  /** If it is down, the test is skipped; if rigs are required, it is started, or the test fails. */
  public static SlurmRig of(String profile) throws IOException, InterruptedException {
    boolean isRequired = Script.isRequired("slurm");
    Ended ended = run(List.of(script(), isRequired ? "up" : "status", profile));
    assertTrue(ended.status() == 0 || !isRequired, ended::errors);
    assumeTrue(ended.status() == 0, ended.errors());
    return new SlurmRig(profile, Path.of(ended.output()));
  }

  /** For {@code ssh -F}: hosts {@code login} (ann) and {@code login-bob}. */
  public Path sshConfig() {
    return sshConfig;
  }

  /** The path of the rig's /home on this machine. */
  public Path home() {
    return folder().resolve("home");
  }

  /** The folder with a host's /tmp and /var/log. */
  public Path host(String name) {
    return folder().resolve("hosts").resolve(name);
  }

  private Path folder() {
    Path folder = sshConfig.getParent();
    if (folder == null) {
      throw new IllegalStateException(sshConfig + " is in no folder");
    }
    return folder;
  }

  /** The login node, a new ssh connection for each command. */
  public Machine login(String user) {
    String host = user.equals("ann") ? "login" : "login-" + user;
    return new Machine() {
      @Override
      public String name() {
        return host;
      }

      @Override
      public Pipe spawn(List<String> arguments) throws IOException {
        return new ProcessPipe(
            new ProcessBuilder(
                    "ssh", "-T", "-F", sshConfig.toString(), host, ShellQuote.join(arguments))
                .start());
      }
    };
  }

  /** Runs a command as ann on the login node, which must succeed, and returns its output. */
  public String ann(String... words) throws IOException, InterruptedException {
    Ended ended = tried("ann", words);
    assertEquals(0, ended.status(), () -> String.join(" ", words) + ": " + ended.errors());
    return ended.output();
  }

  /**
   * Fills nodes: submits an exclusive job of ann's, and waits until it runs.
   *
   * @return the job's number; cancel it to free the nodes
   */
  public String occupy(int nodes) throws IOException, InterruptedException {
    String job =
        ann(
            "sbatch",
            "--parsable",
            "-N" + nodes,
            "--exclusive",
            "-o",
            "/dev/null",
            "--wrap",
            "sleep 900");
    String isRunning = "[ \"$(squeue -h -j " + job + " -o %T)\" = RUNNING ]";
    Ended begun =
        tried("ann", "timeout", "120", "sh", "-c", "until " + isRunning + "; do sleep 0.1; done");
    if (begun.status() != 0) {
      ann("scancel", job);
      throw new AssertionError("job " + job + " does not start: " + begun.errors());
    }
    return job;
  }

  public Ended tried(String user, String... words) throws IOException, InterruptedException {
    return run(
        List.of(
            "ssh",
            "-n",
            "-F",
            sshConfig.toString(),
            user.equals("ann") ? "login" : "login-" + user,
            ShellQuote.join(List.of(words))));
  }

  /** As root on one of its hosts. */
  public Ended root(String host, String... words) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of(script(), "enter", host, profile, "--"));
    command.addAll(List.of(words));
    return run(command);
  }

  /** The number of logins at the login node. */
  public long logins() throws IOException {
    try (Stream<String> lines = Files.lines(host("login").resolve("log/sshd.log"))) {
      return lines.filter(line -> line.startsWith("Accepted publickey")).count();
    }
  }

  /** Processes of srun on the login node: two for each command. */
  public List<Long> sruns() throws IOException, InterruptedException {
    Ended ended = root("login", "pgrep", "-x", "srun");
    return ended.output().lines().map(Long::parseLong).toList();
  }

  /** Switches the accounting daemon of the profile two {@code on} or {@code off}. */
  public void accounting(String word) throws IOException, InterruptedException {
    String pid = "$(cat /run/slurmdbd.pid)";
    String off = "pid=" + pid + "; kill $pid; while kill -0 $pid 2>/dev/null; do sleep 0.02; done";
    String on = "slurmdbd; until sacctmgr -n list cluster >/dev/null 2>&1; do sleep 0.05; done";
    Ended ended = root("ctl", "sh", "-c", word.equals("off") ? off : on);
    assertEquals(0, ended.status(), ended::errors);
  }

  /** The network between laptop and login node swallows every packet. */
  public void cut() throws IOException, InterruptedException {
    network("cut");
  }

  /** And carries them again. */
  public void heal() throws IOException, InterruptedException {
    network("heal");
  }

  private void network(String word) throws IOException, InterruptedException {
    Ended ended = run(List.of(script(), word, profile));
    assertEquals(0, ended.status(), ended::errors);
  }

  private static Ended run(List<String> command) throws IOException, InterruptedException {
    return Script.program("", command);
  }

  private static String script() {
    return Script.of("slurm").path().toString();
  }
}
