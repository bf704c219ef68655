package dev.gpush.core.fabric;

import dev.gpush.core.text.Worded;
import java.util.List;
import java.util.Optional;

/**
 * What is known of a provider's network: how to recognise it on a node, and what to set there.
 *
 * @param fabric how the transport is called where NCCL's own names do not say it ({@code EFA});
 *     empty: discovery names it
 * @param rails names of the network interfaces that are its rails, as patterns; empty where the
 *     rails are RDMA devices
 * @param plugin NCCL reaches this network through a plugin (libnccl-net*.so) that must be there
 * @param script what the ranks' shells read first
 */
public record Recipe(
    String name,
    String about,
    Evidence evidence,
    String fabric,
    List<String> rails,
    boolean plugin,
    Optional<Script> script,
    List<Setting> settings) {
  public Recipe {
    rails = List.copyOf(rails);
    settings = List.copyOf(settings);
  }

  /** As plans name it. */
  public String source() {
    return "recipe " + name;
  }

  /** A variable with the value that the provider's own templates give it, and why. */
  public record Setting(String name, String value, String why) {}

  /** A script with the reason to read it. */
  public record Script(String path, String why) {}

  /**
   * What must be on a node: of each kind that is named at least one pattern must match. In patterns
   * {@code *} stands for any text and {@code ?} for one character.
   */
  public record Evidence(List<Proof> proofs) {
    public Evidence {
      proofs = List.copyOf(proofs);
    }
  }

  /** Patterns of one kind, any of which is enough. */
  public record Proof(Kind kind, List<String> patterns) {
    public Proof {
      patterns = List.copyOf(patterns);
    }
  }

  /** What patterns are compared with; the word is the key in YAML. */
  public enum Kind implements Worded {
    /** Files and devices that only this provider's machines have. */
    FILES,
    /** What the machine's firmware says of vendor and product. */
    PRODUCT,
    /** PCI vendor of the RDMA devices, as {@code 0x15b3}. */
    VENDORS,
    /** Names of variables that the image or the session has. */
    ENVIRONMENT,
    /** Models of GPUs. */
    GPUS,
    /** Names of RDMA devices. */
    DEVICES,
    /** Names of network interfaces. */
    INTERFACES,
    /** Link layers of active RDMA ports: InfiniBand, Ethernet. */
    LINK
  }
}
