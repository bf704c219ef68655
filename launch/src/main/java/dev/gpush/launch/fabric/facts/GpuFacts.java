package dev.gpush.launch.fabric.facts;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The GPUs of one node.
 *
 * @param gpus absent where it could not be read whether there are any
 * @param vendor nvidia, amd, or empty
 * @param links how two GPUs are connected, once each: NV18, PIX, SYS, XGMI …
 * @param hasImex there is a channel for NVLink between nodes
 */
public record GpuFacts(
    Optional<List<Gpu>> gpus, String vendor, List<String> links, boolean hasImex) {
  public GpuFacts {
    gpus = gpus.map(List::copyOf);
    links = List.copyOf(links);
  }

  /** One GPU. */
  public record Gpu(String name, String driver, boolean isMig) {}

  /** How many; 0 where it is not known. */
  public int count() {
    return gpus.map(List::size).orElse(0);
  }

  /** The model of the first, or at least whose it is; empty where there is none. */
  public String model() {
    String name = gpus.stream().flatMap(List::stream).map(Gpu::name).findFirst().orElse("");
    return !name.isEmpty() || count() == 0
        ? name
        : switch (vendor) {
          case "amd" -> "AMD GPU";
          case "nvidia" -> "NVIDIA GPU";
          default -> "GPU";
        };
  }

  public String driver() {
    return gpus.stream().flatMap(List::stream).map(Gpu::driver).findFirst().orElse("");
  }

  static GpuFacts read(FactReader json, boolean canBeMissing) {
    List<Gpu> gpus =
        json.objects("gpus").stream()
            .map(gpu -> new Gpu(gpu.word("name"), gpu.word("driver"), gpu.flag("mig")))
            .toList();
    boolean isKnown = json.isList("gpus") || (!json.has("gpus") && canBeMissing);
    FactReader topology = json.object("topology");
    List<String> links =
        topology.keys().stream()
            .filter(row -> row.startsWith("GPU"))
            .flatMap(
                row ->
                    topology.object(row).textMap().entrySet().stream()
                        .filter(cell -> cell.getKey().startsWith("GPU"))
                        .filter(cell -> !cell.getKey().equals(row)))
            .map(Map.Entry::getValue)
            .distinct()
            .sorted()
            .toList();
    return new GpuFacts(
        Optional.of(gpus).filter(_ -> isKnown),
        json.word("gpu_vendor"),
        links,
        !json.texts("imex").isEmpty());
  }
}
