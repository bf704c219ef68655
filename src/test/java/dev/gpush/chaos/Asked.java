package dev.gpush.chaos;

import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Every gang that was ever asked for in a scene. Thread-safe. */
final class Asked {
  // guarded by this
  private final Map<GangId, GangRequest> requests = new LinkedHashMap<>();

  synchronized void add(GangRequest request) {
    requests.put(request.gang(), request);
  }

  synchronized List<GangRequest> all() {
    return new ArrayList<>(requests.values());
  }
}
