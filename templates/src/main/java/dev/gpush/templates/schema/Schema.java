package dev.gpush.templates.schema;

import static dev.gpush.templates.schema.Place.PERSON;
import static dev.gpush.templates.schema.Place.PROJECT;
import static dev.gpush.templates.schema.Place.SITE;

import dev.gpush.core.config.DataPlace;
import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.PhraseTable;
import dev.gpush.templates.schema.ValueType.FolderOnNodes;
import dev.gpush.templates.schema.ValueType.OneOf;
import dev.gpush.templates.schema.ValueType.PlaceOfData;
import dev.gpush.templates.schema.ValueType.Simple;
import dev.gpush.templates.schema.ValueType.Whole;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * All keys, from the table {@code keys.txt}. A key whose feature does not exist yet is listed too:
 * it is refused by name instead of as unknown, or it is accepted and reported to have no effect
 * yet.
 */
public final class Schema {
  /** Stands for any name in a path. */
  static final String ANY = "*";

  private static final String BACKEND = "backends." + ANY + ".";
  private static final Set<Place> PEOPLE = Set.of(PERSON, SITE);

  private static final List<Key> KEYS =
      PhraseTable.rows(Schema.class, "keys.txt", 5).stream().flatMap(Schema::keys).toList();

  /** What a backend can be. */
  static final ValueType KINDS = find(PERSON, BACKEND + "kind").orElseThrow().type();

  private Schema() {}

  /** The keys that one kind of file may hold. */
  public static List<Key> of(Place place) {
    return KEYS.stream().filter(key -> key.places().contains(place)).toList();
  }

  /** What an effective configuration shows, in order: the project's keys, which all can be set. */
  public static List<Key> settings() {
    return of(PROJECT).stream().filter(Key::isSupported).toList();
  }

  static Optional<Key> find(Place place, String path) {
    return of(place).stream().filter(key -> key.path().equals(path)).findFirst();
  }

  private static Stream<Key> keys(List<String> row) {
    String path = row.get(1);
    return switch (row.getFirst()) {
      case "all" ->
          Stream.of(
              key(row, path, path, Set.of(PROJECT)), key(row, "defaults." + path, path, PEOPLE));
      case "project" -> Stream.of(key(row, path, path, Set.of(PROJECT)));
      case "person" -> Stream.of(key(row, path, path, Set.of(PERSON)));
      case "site" -> Stream.of(key(row, path, "", Set.of(SITE)));
      case "people" -> Stream.of(key(row, path, path, PEOPLE));
      case "backend" -> Stream.of(key(row, BACKEND + path, "", PEOPLE));
      default -> throw new IllegalArgumentException("no kind of file: " + row);
    };
  }

  private static Key key(List<String> row, String path, String setting, Set<Place> places) {
    List<String> type = List.of(row.get(2).split(" "));
    String says = row.get(4);
    Support support =
        switch (type.getFirst()) {
          case "unsupported" -> new Support.Unsupported(says);
          case "refused" -> new Support.Refused(says);
          case "removed" -> new Support.Removed(says);
          default -> new Support.Full();
        };
    if (!(support instanceof Support.Full)) {
      List<String> rest = type.subList(1, type.size());
      ValueType read = rest.isEmpty() ? Simple.TEXT : type(rest);
      return new Key(path, "", read, places, new Json.Null(), support, "");
    }
    Json builtIn = row.get(3).isEmpty() ? new Json.Null() : Json.parse(row.get(3));
    return new Key(path, setting, type(type), places, builtIn, support, says);
  }

  private static ValueType type(List<String> words) {
    List<String> more = words.subList(1, words.size());
    return switch (words.getFirst()) {
      case "whole" -> new Whole(Long.parseLong(more.get(0)), Long.parseLong(more.get(1)));
      case "one-of" -> new OneOf(more);
      case "folder" -> new FolderOnNodes(NodeFolder.Variables.valueOf(constant(more.getFirst())));
      case "data" -> new PlaceOfData(DataPlace.Form.valueOf(constant(more.getFirst())));
      default -> Simple.valueOf(constant(words.getFirst()));
    };
  }

  private static String constant(String word) {
    return word.replace('-', '_').toUpperCase(Locale.ROOT);
  }
}
