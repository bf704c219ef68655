package dev.gpush.core.setup;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What was found and what would be written.
 *
 * @param found places that have GPUs, or can get some
 * @param unusable places that answered and have none
 * @param unasked places that were not looked at, or did not answer
 * @param changes to files, none when nothing is new
 * @param paste what the user has to add by hand, because it cannot be done safely; empty: nothing
 */
public record SetupProposal(
    List<Found> found,
    List<PlaceFinding.Unusable> unusable,
    List<PlaceFinding.Unasked> unasked,
    List<Change> changes,
    String paste) {
  public SetupProposal {
    found = List.copyOf(found);
    unusable = List.copyOf(unusable);
    unasked = List.copyOf(unasked);
    changes = List.copyOf(changes);
  }

  /**
   * A place for gangs.
   *
   * @param kind of its backend
   * @param backend that has it, or would have it
   * @param isNew whether that backend is not in the configuration yet
   */
  public record Found(
      String name, String kind, String what, String origin, String backend, boolean isNew) {}

  /**
   * A file and its new text.
   *
   * @param before what it had when it was read; empty: it did not exist
   * @param added what is new, to be shown
   */
  public record Change(Path file, Optional<String> before, String added, String after) {}
}
