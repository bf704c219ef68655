package dev.gpush.sync.node;

import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The messages of one PREPARE, which is split where its lists become long. */
final class PrepareParts {
  /** Deflated, this many characters are always less than the largest message. */
  private static final int PART_CHARACTERS = 512 << 10;

  /** What an item costs beside its path: kind, size, hash, commas. */
  private static final int ITEM_CHARACTERS = 128;

  private final Json.Obj head;
  private final List<Json> whole = new ArrayList<>();
  private final Map<String, List<Object>> lists = new TreeMap<>();
  private int characters;

  PrepareParts(Json.Obj head) {
    this.head = head;
  }

  void add(String list, String path, Object item) {
    if (characters > PART_CHARACTERS) {
      whole.add(part(true));
      lists.clear();
      characters = 0;
    }
    lists.computeIfAbsent(list, _ -> new ArrayList<>()).add(item);
    characters += path.length() + ITEM_CHARACTERS;
  }

  private Json part(boolean more) {
    Json.Obj part = head;
    for (String list : List.of("write", "delete", "trash", "hold")) {
      part = part.with(list, List.copyOf(lists.getOrDefault(list, List.of())));
    }
    return part.with("more", more);
  }

  List<Json> all() {
    var all = new ArrayList<Json>(whole);
    all.add(part(false));
    return all;
  }
}
