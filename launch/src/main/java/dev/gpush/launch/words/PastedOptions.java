package dev.gpush.launch.words;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The options of a pasted launcher, parsed: which the session replaces, which stay, and where the
 * program starts.
 *
 * @param program from the script (or {@code -m module})
 * @param kept options that stay, as they were written
 * @param replaced options that the session replaces, as they were written
 */
public record PastedOptions(List<String> program, List<String> kept, List<String> replaced) {
  /** Node and rendezvous options, and those about output, which is kept by rank anyway. */
  static final Syntax TORCHRUN =
      new Syntax(
          "torchrun",
          Set.of(
              "nnodes",
              "nproc-per-node",
              "rdzv-backend",
              "rdzv-endpoint",
              "rdzv-id",
              "rdzv-conf",
              "standalone",
              "node-rank",
              "master-addr",
              "master-port",
              "local-addr",
              "log-dir",
              "redirects",
              "r",
              "tee",
              "t",
              "local-ranks-filter",
              "use-env"),
          Set.of(
              "standalone",
              "no-python",
              "module",
              "m",
              "run-path",
              "use-env",
              "virtual-local-rank"),
          Map.of());

  private static final String NODES = "the nodes of a session are fixed while a run lasts";

  static final Syntax DEEPSPEED =
      new Syntax(
          "deepspeed",
          Set.of(
              "hostfile",
              "H",
              "include",
              "i",
              "exclude",
              "e",
              "num-nodes",
              "num-gpus",
              "num-accelerators",
              "node-rank",
              "master-addr",
              "master-port",
              "launcher",
              "launcher-args",
              "no-ssh",
              "no-ssh-check",
              "ssh-port",
              "force-multi",
              "save-pid"),
          Set.of(
              "no-ssh",
              "force-multi",
              "module",
              "no-python",
              "no-local-rank",
              "elastic-training",
              "bind-cores-to-rank",
              "no-ssh-check",
              "save-pid",
              "q",
              "quiet"),
          Map.of(
              "autotuning",
              "the autotuner starts its experiments over ssh by itself",
              "elastic-training",
              NODES,
              "min-elastic-nodes",
              NODES,
              "max-elastic-nodes",
              NODES,
              "venv-script",
              "gpush activates the environment; use gpush run --python"));

  /** Lightning's own launcher. */
  static final Syntax FABRIC =
      new Syntax(
          "fabric run",
          Set.of("devices", "num-nodes", "node-rank", "main-address", "main-port"),
          Set.of(),
          Map.of());

  static final Syntax ACCELERATE =
      new Syntax(
          "accelerate launch",
          Set.of(
              "num-processes",
              "num-machines",
              "machine-rank",
              "main-process-ip",
              "main-process-port",
              "rdzv-backend",
              "rdzv-conf",
              "same-network",
              "standalone",
              "gpu-ids",
              "deepspeed-hostfile",
              "deepspeed-inclusion-filter",
              "deepspeed-exclusion-filter",
              "deepspeed-multinode-launcher"),
          Set.of(
              "cpu",
              "multi-gpu",
              "tpu",
              "ipex",
              "quiet",
              "q",
              "use-deepspeed",
              "use-fsdp",
              "use-megatron-lm",
              "use-xpu",
              "debug",
              "module",
              "m",
              "no-python",
              "use-mps-device",
              "standalone",
              "same-network",
              "enable-cpu-affinity",
              "use-parallelism-config"),
          Map.of(
              "mpirun-hostfile",
              "MPI would start ranks on hosts of its own",
              "mpirun-ccl",
              "MPI would start ranks on hosts of its own",
              "tpu-use-cluster",
              "TPU pods are not nodes of a session"));

  public PastedOptions {
    program = List.copyOf(program);
    kept = List.copyOf(kept);
    replaced = List.copyOf(replaced);
  }

  boolean has(String option) {
    return kept.stream().anyMatch(word -> name(word).equals(option));
  }

  /**
   * What is known of a launcher's options; {@code -} and {@code _} are the same in them.
   *
   * @param ours options that the session decides
   * @param flags options without a value; for others see {@link #hasValue}
   * @param refused options that a session cannot honour, each with the reason
   */
  record Syntax(String launcher, Set<String> ours, Set<String> flags, Map<String, String> refused) {
    PastedOptions read(List<String> words) {
      var kept = new ArrayList<String>();
      var replaced = new ArrayList<String>();
      boolean module = false;
      int at = 0;
      while (at < words.size() && words.get(at).startsWith("-")) {
        String word = words.get(at);
        if (word.equals("--")) {
          at++;
          break;
        }
        int length = hasValue(words, at) ? 2 : 1;
        List<String> option = words.subList(at, at + length);
        at += length;
        String name = name(word);
        if (refused.containsKey(name)) {
          throw bad(launcher + " " + word + " is not possible here: " + refused.get(name));
        }
        if (name.equals("m") || name.equals("module")) {
          module = true;
        } else if (ours.contains(name)) {
          replaced.addAll(option);
        } else {
          kept.addAll(option);
        }
      }
      if (at >= words.size()) {
        throw bad(launcher + " without a script");
      }
      var program = new ArrayList<String>();
      if (module) {
        program.add("-m");
      }
      program.addAll(words.subList(at, words.size()));
      return new PastedOptions(program, kept, replaced);
    }

    /** An option that is not a known flag has a value, unless what follows cannot be one. */
    private boolean hasValue(List<String> words, int at) {
      String word = words.get(at);
      if (word.contains("=") || flags.contains(name(word)) || at + 1 >= words.size()) {
        return false;
      }
      String next = words.get(at + 1);
      return !next.startsWith("-") && !next.endsWith(".py");
    }
  }

  private static GpushException bad(String rule) {
    return new GpushException(new UsageFailure.BadArguments("run", rule, List.of()));
  }

  /** {@code --nproc_per_node=8} is {@code nproc-per-node}. */
  public static String name(String word) {
    String bare = word.replaceFirst("^--?", "");
    int equals = bare.indexOf('=');
    return (equals < 0 ? bare : bare.substring(0, equals)).replace('_', '-');
  }
}
