package dev.gpush.backends.slurm.command;

import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.machine.Inquiry;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/** Facts of the login node that do not change, read once. */
public final class LoginNode {
  private static final String MARK = "gpush-login:";

  /** Prints lines after a mark, because profiles and banners may print anything. */
  private static final String SCRIPT =
      """
      printf 'gpush-login:%s\\n' "$(id -un)" "$HOME" "$(sinfo --version 2>/dev/null)" \\
        "$(srun --help 2>/dev/null | grep -c -e --container-image)"
      command -v sbatch >/dev/null
      """;

  private final SlurmCommands commands;
  private final String backend;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private Optional<Facts> known = Optional.empty();

  public LoginNode(String backend, SlurmCommands commands) {
    this.backend = backend;
    this.commands = commands;
  }

  /**
   * The facts of a login node.
   *
   * @param version "slurm 22.05.8", with the distribution's additions
   * @param hasContainers srun can start steps in images
   */
  public record Facts(String user, String home, String version, boolean hasContainers) {
    /** {@code $USER}, {@code $HOME} and {@code ~} in a path of the configuration. */
    public String path(String written) {
      String path = written.replaceFirst("^~(?=/|$)", home);
      return path.replaceAll("\\$(\\{USER}|USER\\b)", user)
          .replaceAll("\\$(\\{HOME}|HOME\\b)", home);
    }
  }

  /**
   * Reads the facts once.
   *
   * @throws GpushException with {@code Unavailable} when there is no Slurm on that machine
   */
  public Facts facts() throws InterruptedException, Unanswered {
    lock.lockInterruptibly();
    try {
      if (known.isEmpty()) {
        known = Optional.of(ask());
      }
      return known.get();
    } finally {
      lock.unlock();
    }
  }

  private Facts ask() throws InterruptedException, Unanswered {
    Inquiry.Answer answer =
        commands.ask(List.of("/bin/sh", "-c", SCRIPT), "", Duration.ofSeconds(60));
    List<String> said =
        answer
            .output()
            .lines()
            .filter(line -> line.startsWith(MARK))
            .map(line -> line.substring(MARK.length()).strip())
            .toList();
    String machine = commands.machine().name();
    if (said.size() != 4) {
      throw new Unanswered(
          machine + " does not run commands: " + ClusterText.clean(answer.errors()), null);
    }
    if (!answer.succeeded()) {
      throw new GpushException(
          new BackendFailure.Unavailable(
              backend,
              machine + " has no sbatch on the PATH of a login",
              "ssh " + machine + " command -v sbatch"));
    }
    if (!said.get(1).startsWith("/")) {
      throw new Unanswered(machine + " gives " + said.get(0) + " no home folder", null);
    }
    return new Facts(said.get(0), said.get(1), said.get(2), !said.get(3).equals("0"));
  }
}
