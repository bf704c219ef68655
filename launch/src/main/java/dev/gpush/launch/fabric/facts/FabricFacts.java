package dev.gpush.launch.fabric.facts;

import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What one node says of its network and GPUs.
 *
 * @param unreadable what the node could not read, with the reason
 */
public record FabricFacts(
    NetworkFacts network,
    RdmaFacts rdma,
    GpuFacts gpus,
    SiteFacts site,
    ProviderFacts provider,
    Software software,
    List<String> unreadable) {
  public FabricFacts {
    unreadable = List.copyOf(unreadable);
  }

  /** Versions in the user's own interpreter, where they are known. */
  public record Software(Optional<SoftwareVersion> torch, Optional<SoftwareVersion> nccl) {}

  /**
   * Any JSON gives facts: what makes no sense is not known.
   *
   * @param facts as the agent makes them
   * @param python {@code torch} and {@code nccl}, from the interpreter that runs use
   */
  public static FabricFacts read(Json facts, Json python) {
    var json = new FactReader(facts);
    var unreadable = new ArrayList<String>();
    for (FactReader each : json.objects("unreadable")) {
      unreadable.add(each.word("path") + ": " + each.word("why"));
    }
    // A machine that has interfaces was looked at: what it does not mention is not there.
    boolean wasRead = json.isList("interfaces");
    var versions = new FactReader(python);
    return new FabricFacts(
        NetworkFacts.read(json),
        RdmaFacts.read(json, wasRead && !names(unreadable, "infiniband")),
        GpuFacts.read(json, wasRead && !names(unreadable, "-smi")),
        SiteFacts.read(json),
        ProviderFacts.read(json),
        new Software(
            versions.text("torch").flatMap(SoftwareVersion::parse),
            versions.text("nccl").flatMap(SoftwareVersion::parse)),
        unreadable);
  }

  private static boolean names(List<String> unreadable, String part) {
    return unreadable.stream().anyMatch(each -> each.contains(part));
  }
}
