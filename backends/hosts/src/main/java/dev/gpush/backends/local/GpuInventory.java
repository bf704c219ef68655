package dev.gpush.backends.local;

import dev.gpush.backends.hosts.GpuModel;
import dev.gpush.backends.local.Question.Answer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The machine's GPUs as nvidia-smi or rocm-smi tell them; none when neither is there. */
final class GpuInventory {
  /** A machine with more GPUs than this does not exist; more lines are noise. */
  private static final int MAX_GPUS = 64;

  private final Question question;

  GpuInventory(Question question) {
    this.question = question;
  }

  /**
   * What there is.
   *
   * @param problem why a tool that is installed does not answer ("nvidia-smi: exit status 9");
   *     empty when all is well
   */
  record Stock(List<Gpu> gpus, String problem) {
    Stock {
      gpus = List.copyOf(gpus);
    }
  }

  Stock stock(Map<String, String> environment) throws InterruptedException {
    Stock nvidia =
        ask(
            List.of("nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader"),
            environment,
            GpuInventory::parseNvidia);
    if (!nvidia.gpus().isEmpty() || !nvidia.problem().isEmpty()) {
      return nvidia;
    }
    return ask(
        List.of("rocm-smi", "--showuniqueid", "--csv"), environment, GpuInventory::parseRocm);
  }

  private Stock ask(
      List<String> command, Map<String, String> environment, Function<String, List<Gpu>> parse)
      throws InterruptedException {
    return switch (question.ask(command, environment)) {
      case Answer.NotInstalled _ -> new Stock(List.of(), "");
      case Answer.Failed(var reason) -> new Stock(List.of(), command.getFirst() + ": " + reason);
      case Answer.Output(var text) -> new Stock(parse.apply(text), "");
    };
  }

  /** {@code 0, GPU-8a56…, NVIDIA H100 80GB HBM3} per line. */
  static List<Gpu> parseNvidia(String output) {
    var gpus = new ArrayList<Gpu>();
    for (String line : output.lines().limit(MAX_GPUS).toList()) {
      List<String> parts = List.of(line.split(",", 3));
      if (parts.size() == 3 && isIndex(parts.get(0).strip()) && isName(parts.get(1).strip())) {
        String model = GpuModel.of(parts.get(2).strip());
        gpus.add(new Gpu(parts.get(0).strip(), parts.get(1).strip(), model));
      }
    }
    return List.copyOf(gpus);
  }

  /** {@code device,Unique ID} and {@code card0,0x…} per line. */
  static List<Gpu> parseRocm(String output) {
    var gpus = new ArrayList<Gpu>();
    for (String line : output.lines().limit(MAX_GPUS).toList()) {
      List<String> parts = List.of(line.split(",", -1));
      if (parts.size() >= 2
          && parts.getFirst().startsWith("card")
          && isIndex(parts.getFirst().substring(4))
          && isName(parts.get(1).strip())) {
        gpus.add(new Gpu(parts.getFirst().substring(4), parts.get(1).strip(), "AMD"));
      }
    }
    return List.copyOf(gpus);
  }

  private static boolean isIndex(String text) {
    return text.matches("[0-9]{1,3}");
  }

  /** It becomes the name of a file. */
  private static boolean isName(String text) {
    return text.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}");
  }
}
