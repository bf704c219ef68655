package dev.gpush.gateway.session.ledger;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities.Places;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;

/**
 * A request to one of several backends. It is in the ledger from before the backend is asked until
 * it is proved that nothing is held there.
 *
 * @param place where that backend was when it was asked, as {@code Capabilities.Places} has it; may
 *     be empty
 * @param price of an hour of the whole gang, as it was configured then
 * @param isWanted false once another bid has the gang, or this one failed: it must only be released
 */
public record Bid(
    String backend, String place, GangId gang, Optional<Double> price, boolean isWanted) {
  /** For the backend where it is now. */
  public static Bid of(Backend backend, GangId gang) {
    String place = backend.capabilities().places().map(Places::now).orElse("");
    return new Bid(backend.name(), place, gang, Optional.empty(), true);
  }

  public Bid priced(Optional<Double> hour) {
    return new Bid(backend, place, gang, hour, isWanted);
  }

  Bid wanted(boolean isWanted) {
    return new Bid(backend, place, gang, price, isWanted);
  }

  /** The backend of this name, where it was when it was asked. */
  public Backend at(Backend now) {
    return now.capabilities()
        .places()
        .filter(_ -> !place.isEmpty())
        .map(places -> places.at(place))
        .orElse(now);
  }

  /** The gang to release, whatever exists of it. */
  public Gang gangToRelease() {
    return new Gang(gang, backend, List.of(), "");
  }

  Json.Obj json() {
    Json.Obj json = Json.object("backend", backend, "gang", gang.text(), "wanted", isWanted);
    json = place.isEmpty() ? json : json.with("place", place);
    return price.isEmpty() ? json : json.with("price", price);
  }

  static Bid from(Json json) {
    return new Bid(
        json.text("backend").orElseThrow(() -> new IllegalArgumentException("no backend")),
        json.text("place").orElse(""),
        new GangId(json.text("gang").orElse("")),
        json.real("price"),
        json.flag("wanted"));
  }
}
