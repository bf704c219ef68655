package dev.gpush.backends.kubernetes;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Looks at the claims of a request before anything is made: pods would wait for a wrong one. */
final class ClaimCheck {
  private static final Set<String> FOR_ONE_NODE = Set.of("ReadWriteOnce", "ReadWriteOncePod");

  private final Namespace place;
  private final GangRequest request;

  ClaimCheck(Namespace place, GangRequest request) {
    this.place = place;
    this.request = request;
  }

  Optional<Plan> plan() throws InterruptedException, Unanswered {
    for (GangRequest.Volume volume : request.data().volumes()) {
      Optional<String> flaw = flaw(volume);
      if (flaw.isPresent()) {
        return Optional.of(
            new Plan.Never(volume.key() + ": " + flaw.get(), List.of(place.kubectl("get pvc"))));
      }
    }
    return Optional.empty();
  }

  /** Empty also if we may not look. */
  private Optional<String> flaw(GangRequest.Volume volume) throws InterruptedException, Unanswered {
    String claim = volume.claim();
    Json found;
    try {
      found = place.api().get(place.path("/api/v1", "persistentvolumeclaims", claim));
    } catch (ApiRefusal refusal) {
      return refusal.isNotFound()
          ? Optional.of(
              "there is no PersistentVolumeClaim "
                  + ClusterText.clean(claim)
                  + " in the namespace "
                  + place.namespace())
          : Optional.empty();
    }
    if (found.object("status").text("phase").equals(Optional.of("Lost"))) {
      return Optional.of("the volume of the PersistentVolumeClaim " + claim + " is lost");
    }
    List<String> modes = found.object("spec").texts("accessModes");
    if (request.nodes() > 1 && !modes.isEmpty() && FOR_ONE_NODE.containsAll(modes)) {
      return Optional.of(
          "the PersistentVolumeClaim "
              + claim
              + " is for one node at a time ("
              + String.join(", ", modes)
              + "), and "
              + request.nodes()
              + " are wanted");
    }
    if (!volume.isReadOnly() && modes.equals(List.of("ReadOnlyMany"))) {
      return Optional.of(
          "the PersistentVolumeClaim " + claim + " can only be read; write pvc/" + claim + ":ro");
    }
    return Optional.empty();
  }
}
