package dev.gpush.backends.local;

import dev.gpush.core.backend.Pipe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The machine's GPUs as nvidia-smi or rocm-smi tell them; none when neither is there or answers. */
final class GpuInventory {
  /** A machine with more GPUs than this does not exist; more lines are noise. */
  private static final int MAX_GPUS = 64;

  private static final int MAX_OUTPUT = 64 * 1024;

  private final LocalHost host;

  GpuInventory(LocalHost host) {
    this.host = host;
  }

  List<Gpu> gpus(Map<String, String> environment) {
    List<Gpu> nvidia =
        parseNvidia(run(List.of("nvidia-smi", "--query-gpu=index,uuid,name", "--format=csv,noheader"), environment));
    return nvidia.isEmpty() ? parseRocm(run(List.of("rocm-smi", "--showuniqueid", "--csv"), environment)) : nvidia;
  }

  /** {@code 0, GPU-8a56…, NVIDIA H100 80GB HBM3} per line. */
  static List<Gpu> parseNvidia(String output) {
    var gpus = new ArrayList<Gpu>();
    for (String line : output.lines().limit(MAX_GPUS).toList()) {
      String[] parts = line.split(",", 3);
      if (parts.length == 3 && parts[0].strip().matches("[0-9]{1,3}") && isName(parts[1].strip())) {
        gpus.add(new Gpu(parts[0].strip(), parts[1].strip(), shortModel(parts[2].strip())));
      }
    }
    return List.copyOf(gpus);
  }

  /** {@code device,Unique ID} and {@code card0,0x…} per line. */
  static List<Gpu> parseRocm(String output) {
    var gpus = new ArrayList<Gpu>();
    for (String line : output.lines().limit(MAX_GPUS).toList()) {
      String[] parts = line.split(",");
      if (parts.length >= 2 && parts[0].matches("card[0-9]{1,3}") && isName(parts[1].strip())) {
        gpus.add(new Gpu(parts[0].substring(4), parts[1].strip(), "AMD"));
      }
    }
    return List.copyOf(gpus);
  }

  /** "NVIDIA H100 80GB HBM3" is called H100, as people say. */
  private static String shortModel(String name) {
    String plain = name.replaceFirst("(?i)^nvidia\\s+", "").replaceFirst("(?i)^(tesla|geforce|quadro)\\s+", "");
    String first = plain.split("[\\s-]")[0];
    return first.equalsIgnoreCase("rtx") ? plain.replace(' ', '-') : first.toUpperCase(Locale.ROOT);
  }

  private static boolean isName(String text) {
    return text.matches("[A-Za-z0-9._-]{1,80}");
  }

  private String run(List<String> command, Map<String, String> environment) {
    try (Pipe pipe = host.spawn(command, environment)) {
      pipe.input().close();
      byte[] output = pipe.output().readNBytes(MAX_OUTPUT);
      return pipe.await() == 0 ? new String(output, StandardCharsets.UTF_8) : "";
    } catch (IOException notInstalled) {
      return "";
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return "";
    }
  }
}
