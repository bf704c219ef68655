package dev.gpush.core.backend;

import java.util.Arrays;
import java.util.Set;

/** What a backend can do besides giving nodes. */
public record Capabilities(Set<Capability> all) {
  public enum Capability {
    /** A request that does not fit now may wait there for its turn. */
    QUEUE,
    /** Options of sbatch are used. */
    NATIVES,
    /** Nodes can be made of a container image. */
    IMAGES,
    /** Volumes can be mounted into nodes. */
    VOLUMES,
    /** The disks of nodes outlive the gang, so that files that are kept there can be read later. */
    KEPT_FILES
  }

  public Capabilities {
    all = Set.copyOf(all);
  }

  public static Capabilities of(Capability... all) {
    return new Capabilities(Set.copyOf(Arrays.asList(all)));
  }

  public boolean hasQueue() {
    return all.contains(Capability.QUEUE);
  }

  public boolean takesNatives() {
    return all.contains(Capability.NATIVES);
  }

  public boolean takesImages() {
    return all.contains(Capability.IMAGES);
  }

  public boolean mountsVolumes() {
    return all.contains(Capability.VOLUMES);
  }

  public boolean keepsFiles() {
    return all.contains(Capability.KEPT_FILES);
  }
}
