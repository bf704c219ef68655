package dev.gpush.launch.plan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The options of a pasted launcher, parsed: which the session replaces, which stay, and where the
 * program starts.
 *
 * @param program from the script (or {@code -m module})
 * @param kept options that stay, as they were written
 * @param replaced options that the session replaces, as they were written
 */
record PastedOptions(List<String> program, List<String> kept, List<String> replaced) {
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
          false);

  /** Torchrun starts its ranks instead, so none of its options stay. */
  static final Syntax DEEPSPEED =
      new Syntax(
          "deepspeed",
          Set.of(),
          Set.of(
              "no-ssh",
              "force-multi",
              "module",
              "no-python",
              "no-local-rank",
              "elastic-training",
              "bind-cores-to-rank",
              "no-ssh-check"),
          true);

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
          false);

  PastedOptions {
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
   * @param allOurs nothing is kept
   */
  record Syntax(String launcher, Set<String> ours, Set<String> flags, boolean allOurs) {
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
        if (name.equals("m") || name.equals("module")) {
          module = true;
        } else if (allOurs || ours.contains(name)) {
          replaced.addAll(option);
        } else {
          kept.addAll(option);
        }
      }
      if (at >= words.size()) {
        throw new GpushException(
            new UsageFailure.BadArguments("run", launcher + " without a script", List.of()));
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

  /** {@code --nproc_per_node=8} is {@code nproc-per-node}. */
  private static String name(String word) {
    String bare = word.replaceFirst("^--?", "");
    int equals = bare.indexOf('=');
    return (equals < 0 ? bare : bare.substring(0, equals)).replace('_', '-');
  }
}
