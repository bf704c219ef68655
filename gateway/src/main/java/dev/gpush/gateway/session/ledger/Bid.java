package dev.gpush.gateway.session.ledger;

import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import java.util.List;

/**
 * A request to one of several backends. It is in the ledger from before the backend is asked until
 * it is proved that nothing is held there.
 *
 * @param isWanted false once another bid has the gang, or this one failed: it must only be released
 */
public record Bid(String backend, GangId gang, boolean isWanted) {
  Bid unwanted() {
    return new Bid(backend, gang, false);
  }

  /** The gang to release, whatever exists of it. */
  public Gang gangToRelease() {
    return new Gang(gang, backend, List.of(), "");
  }

  Json.Obj json() {
    return Json.object("backend", backend, "gang", gang.text(), "wanted", isWanted);
  }

  static Bid from(Json json) {
    return new Bid(
        json.text("backend").orElseThrow(() -> new IllegalArgumentException("no backend")),
        new GangId(json.text("gang").orElse("")),
        json.flag("wanted"));
  }
}
