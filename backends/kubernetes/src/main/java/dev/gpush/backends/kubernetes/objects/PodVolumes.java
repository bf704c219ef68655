package dev.gpush.backends.kubernetes.objects;

import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import java.util.List;

/**
 * The claims of a gang in its pods. A claim is one volume of a pod however often it is mounted: a
 * second one of the same claim can keep a pod waiting for its disk.
 */
final class PodVolumes {
  private PodVolumes() {}

  static List<Json.Obj> volumes(GangRequest.Data data) {
    return data.volumes().stream()
        .map(GangRequest.Volume::claim)
        .distinct()
        .map(
            claim ->
                Json.object(
                    "name",
                    name(data, claim),
                    "persistentVolumeClaim",
                    Json.object("claimName", claim)))
        .toList();
  }

  static List<Json.Obj> mounts(GangRequest.Data data) {
    return data.volumes().stream()
        .map(
            volume ->
                Json.object(
                    "name",
                    name(data, volume.claim()),
                    "mountPath",
                    volume.path(),
                    "readOnly",
                    volume.isReadOnly()))
        .toList();
  }

  /** A claim's name may be longer than a volume's, and have dots. */
  private static String name(GangRequest.Data data, String claim) {
    return "gpush-data-"
        + data.volumes().stream().map(GangRequest.Volume::claim).distinct().toList().indexOf(claim);
  }
}
