package dev.gpush.backends.slurm.command;

import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * A login node that serves several clusters, restricted to one of them: Slurm's programs read
 * {@code SLURM_CLUSTERS} if there is no {@code -M}.
 */
public record ClusterMachine(Machine login, String cluster) implements Machine {
  private static final String VARIABLE = "SLURM_CLUSTERS=";

  @Override
  public String name() {
    return login.name();
  }

  @Override
  public Pipe spawn(List<String> arguments) throws IOException {
    var command = new ArrayList<>(List.of("env", VARIABLE + cluster));
    command.addAll(arguments);
    return login.spawn(command);
  }

  /** A command as the user would type it on the login node. */
  public static String typed(String cluster, String command) {
    return cluster.isEmpty() ? command : VARIABLE + cluster + " " + command;
  }
}
