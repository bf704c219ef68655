package dev.gpush.core.setup;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** What was found at one place. Text from other machines is clean already. */
public sealed interface PlaceFinding {
  /** As the user knows the place. */
  String name();

  /** Where it is written. */
  String origin();

  /** This machine, which needs no configuration. */
  record Here(String name, String origin, String what) implements PlaceFinding {}

  /**
   * A login where {@code sinfo} answers.
   *
   * @param address {@code user@host:port}, as ssh understands the name
   * @param cluster its name; empty if it does not say
   * @param partitions each with its GPUs, in Slurm's words
   */
  record Login(String name, String origin, String address, String cluster, List<String> partitions)
      implements PlaceFinding {
    public Login {
      partitions = List.copyOf(partitions);
    }
  }

  /**
   * A machine with GPUs behind ssh.
   *
   * @param address {@code user@host:port}: what two names of one machine have in common
   * @param group the hosts that it is listed with, if it is in another tool's list
   * @param gpus in words: {@code 8 × H100}
   */
  record GpuHost(String name, String origin, String address, Optional<String> group, String gpus)
      implements PlaceFinding {}

  /**
   * A context of a kubeconfig in whose namespace a gang may be made; its name is the context's.
   *
   * @param kubeconfig the file, if it is not the usual one
   * @param isCurrent whether kubectl uses it
   * @param place server and namespace: what two contexts of one namespace have in common
   * @param what in words
   */
  record Context(
      String name,
      String origin,
      Optional<Path> kubeconfig,
      boolean isCurrent,
      String namespace,
      String place,
      String what)
      implements PlaceFinding {}

  /** It answered, and has nothing that gpush can use. */
  record Unusable(String name, String origin, String why) implements PlaceFinding {}

  /**
   * It was not looked at, or did not answer.
   *
   * @param remedy how to add it by hand
   */
  record Unasked(String name, String origin, String why, String remedy) implements PlaceFinding {}
}
