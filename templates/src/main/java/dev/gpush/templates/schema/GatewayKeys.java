package dev.gpush.templates.schema;

import static dev.gpush.templates.schema.Place.PERSON;
import static dev.gpush.templates.schema.Place.SITE;

import dev.gpush.core.json.Json;
import dev.gpush.templates.schema.ValueType.FilePath;
import dev.gpush.templates.schema.ValueType.OneOf;
import dev.gpush.templates.schema.ValueType.Text;
import dev.gpush.templates.schema.ValueType.Texts;
import java.util.List;
import java.util.Set;

/** What people and sites may set of the gateway itself. */
final class GatewayKeys {
  private static final Set<Place> PEOPLE = Set.of(PERSON, SITE);
  private static final Support FULL = new Support.Full();

  private static final OneOf AUDITS = new OneOf(List.of("none", "connections", "commands"));

  private static final OneOf ENTRIES = new OneOf(List.of("auto", "port", "socket"));

  static final List<Key> ALL =
      List.of(
          gateway(
              "authorized-keys",
              new FilePath(),
              "a file of public keys that may log in over ssh; none: authorized_keys in"
                  + " $GPUSH_HOME (reference/ssh-clients.md)"),
          gateway(
              "trusted-user-ca",
              new FilePath(),
              "a file with the public keys of authorities whose user certificates may log in"),
          gateway(
              "principals",
              new Texts(),
              "a user certificate must name one of these; none: the owner"),
          gateway(
              "revoked-keys",
              new FilePath(),
              "a file of public keys, or a key revocation list of ssh-keygen, that may not log"
                  + " in"),
          new Key(
              "gateway.audit",
              "gateway.audit",
              AUDITS,
              PEOPLE,
              Json.of("connections"),
              FULL,
              "what gpush gateway audit records: none, connections, or commands, which adds"
                  + " command lines (guide/audit.md); read when the gateway starts"),
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
          removed(
              "compatibility", "delete the line, and use a client that has curve25519 and Ed25519"),
          removed("record", "delete the line, and record a terminal with asciinema"));

  private GatewayKeys() {}

  private static Key removed(String name, String instead) {
    return new Key(
        "gateway." + name,
        "",
        new Text(),
        PEOPLE,
        new Json.Null(),
        new Support.Removed(instead),
        "");
  }

  /** A key of the gateway's ssh server. */
  private static Key gateway(String name, ValueType type, String says) {
    String path = "gateway." + name;
    return new Key(path, path, type, PEOPLE, new Json.Null(), FULL, says);
  }
}
