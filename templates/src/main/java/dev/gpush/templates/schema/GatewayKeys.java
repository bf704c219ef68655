package dev.gpush.templates.schema;

import static dev.gpush.templates.schema.Place.PERSON;
import static dev.gpush.templates.schema.Place.SITE;

import dev.gpush.core.json.Json;
import dev.gpush.templates.schema.ValueType.OneOf;
import dev.gpush.templates.schema.ValueType.Simple;
import java.util.List;
import java.util.Set;

/** What people and sites may set of the gateway itself. */
final class GatewayKeys {
  private static final Set<Place> PEOPLE = Set.of(PERSON, SITE);
  private static final Support FULL = new Support.Full();

  private static final String OWN_KEY =
      "delete the line; only the key of $GPUSH_HOME logs in, which ssh finds by itself";

  private static final OneOf ENTRIES = new OneOf(List.of("auto", "port", "socket"));

  static final List<Key> ALL =
      List.of(
          new Key(
              "gateway.ssh",
              "gateway.ssh",
              ENTRIES,
              PEOPLE,
              Json.of("auto"),
              FULL,
              "where ssh reaches the gateway: a port of 127.0.0.1; a socket of its user alone,"
                  + " through a ProxyCommand; auto: a socket if other people are logged in"
                  + " (reference/ssh-clients.md); read when the gateway starts"),
          removed("authorized-keys", OWN_KEY),
          removed("trusted-user-ca", OWN_KEY),
          removed("principals", OWN_KEY),
          removed("revoked-keys", OWN_KEY),
          removed(
              "compatibility", "delete the line, and use a client that has curve25519 and Ed25519"),
          removed("audit", "delete the line; gpush gateway logs has who connected"),
          removed("record", "delete the line, and record a terminal with asciinema"));

  private GatewayKeys() {}

  private static Key removed(String name, String instead) {
    return new Key(
        "gateway." + name,
        "",
        Simple.TEXT,
        PEOPLE,
        new Json.Null(),
        new Support.Removed(instead),
        "");
  }
}
