package dev.gpush.launch.words;

import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Worded;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The command line of another launcher on each node: its own program with the user's options, and
 * the nodes, ranks and rendezvous of the run in place of its own.
 *
 * @param devices of each node, in their order: one for each rank; numbers where there are no GPUs
 * @param hasGpus any node has
 * @param address of node 0
 */
public record LauncherCommand(
    RunWords.Launched launched, List<List<String>> devices, boolean hasGpus, String address) {
  /** Which launcher. */
  public enum Kind implements Worded {
    /** Hugging Face's. */
    ACCELERATE("accelerate launch"),
    /** Its part of one node, which its own front end would start over ssh. */
    DEEPSPEED("deepspeed"),
    /** Lightning's. */
    FABRIC("fabric run");

    private final String call;

    Kind(String call) {
      this.call = call;
    }

    /** As it is called in front of a script. */
    String call() {
      return call;
    }
  }

  public LauncherCommand {
    devices = devices.stream().map(List::copyOf).toList();
  }

  public int ranks() {
    return devices.stream().mapToInt(List::size).sum();
  }

  /** Refuses what this launcher would start otherwise than it was asked to. */
  public void check() {
    int here = devices.getFirst().size();
    for (int node = 1; node < devices.size(); node++) {
      int there = devices.get(node).size();
      if (launched.launcher() != Kind.DEEPSPEED && there != here) {
        throw UsageFailure.ofRun(
            launched.launcher().word()
                + " starts the same number of ranks on every node, and this run would have "
                + here
                + " and "
                + there
                + "; use --gpus or --nproc");
      }
    }
    if (launched.launcher() == Kind.ACCELERATE && has("cpu"::equals) && here > 1) {
      throw UsageFailure.ofRun(
          "accelerate launch --cpu starts one process per node; leave --cpu out");
    }
  }

  public List<String> argv(String interpreter, int node, int port) {
    var argv = new ArrayList<String>();
    switch (launched.launcher()) {
      case ACCELERATE -> {
        argv.addAll(List.of(interpreter, "-u", "-m", "accelerate.commands.launch"));
        argv.addAll(accelerate(node, port));
        argv.addAll(launched.words());
      }
      case DEEPSPEED -> {
        argv.addAll(List.of(interpreter, "-u", "-m", "deepspeed.launcher.launch"));
        argv.add("--world_info=" + worldInfo());
        argv.add("--node_rank=" + node);
        argv.add("--master_addr=" + address);
        argv.add("--master_port=" + port);
        argv.addAll(launched.options());
        boolean isModule = launched.words().getFirst().equals("-m");
        argv.addAll(isModule ? List.of("--module") : List.of());
        argv.addAll(
            isModule ? launched.words().subList(1, launched.words().size()) : launched.words());
      }
      case FABRIC -> {
        argv.addAll(List.of("fabric", "run"));
        argv.add("--devices=" + devices.get(node).size());
        argv.add("--num-nodes=" + devices.size());
        argv.add("--node-rank=" + node);
        argv.add("--main-address=" + address);
        argv.add("--main-port=" + port);
        argv.addAll(launched.options());
        argv.addAll(launched.words());
      }
    }
    return argv;
  }

  private List<String> accelerate(int node, int port) {
    var known = new KnownOptions(launched.launcher().call());
    var options = new ArrayList<String>();
    options.addAll(List.of("--num_machines", Integer.toString(devices.size())));
    options.addAll(List.of("--machine_rank", Integer.toString(node)));
    options.addAll(List.of("--main_process_ip", address));
    options.addAll(List.of("--main_process_port", Integer.toString(port)));
    options.addAll(List.of("--num_processes", Integer.toString(ranks())));
    if (devices.size() > 1 && has(Set.of("use-deepspeed", "config-file")::contains)) {
      // Without it accelerate lets deepspeed start the other nodes over pdsh.
      options.addAll(List.of("--deepspeed_multinode_launcher", "standard"));
    }
    if (ranks() > 1 && !hasGpus && !has(name -> known.has("gang", name))) {
      // Without it one process per node is started where there are no GPUs.
      options.add("--multi_gpu");
    }
    for (String option : launched.options()) {
      // With one rank, accelerate refuses it.
      if (ranks() > 1 || !PastedOptions.name(option).equals("multi-gpu")) {
        options.add(option);
      }
    }
    return options;
  }

  private boolean has(Predicate<String> name) {
    return launched.options().stream()
        .anyMatch(word -> word.startsWith("-") && name.test(PastedOptions.name(word)));
  }

  /** Which devices each node uses, as deepspeed's own front end passes it on. */
  private String worldInfo() {
    var info = new LinkedHashMap<String, Object>();
    for (int node = 0; node < devices.size(); node++) {
      info.put(
          "node" + node,
          devices.get(node).stream()
              .<Object>map(
                  name -> name.matches("[0-9]{1,4}") ? (Object) Long.parseLong(name) : name)
              .toList());
    }
    return Base64.getUrlEncoder()
        .encodeToString(Json.of(info).write().getBytes(StandardCharsets.UTF_8));
  }
}
