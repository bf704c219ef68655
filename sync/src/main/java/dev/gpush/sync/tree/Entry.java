package dev.gpush.sync.tree;

import dev.gpush.core.json.Json;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/** What a path of a manifest is: a file or a symbolic link. Folders are there because files are. */
public sealed interface Entry {

  /**
   * A regular file; of its mode only the executable bit counts.
   *
   * @param hash SHA-256 of the content, 64 lower-case hex digits
   */
  record File(long size, boolean executable, String hash) implements Entry {
    public File {
      if (size < 0 || !Hashes.isHash(hash)) {
        throw new IllegalArgumentException("not a file entry: " + size + " bytes, hash " + hash);
      }
    }
  }

  /** A symbolic link, relative and inside the workspace. */
  record Link(String target) implements Entry {}

  /** The line's part after the path in a manifest's root. */
  default String key() {
    return switch (this) {
      case File(_, var executable, var hash) -> "file\0" + (executable ? 1 : 0) + "\0" + hash;
      case Link(var target) ->
          "link\0" + "0\0" + Hashes.of(target.getBytes(StandardCharsets.UTF_8));
    };
  }

  /** kind, x, size, hash or target: the middle of an item in INDEX and PREPARE. */
  default List<Object> wire() {
    return switch (this) {
      case File(var size, var executable, var hash) ->
          List.of("file", executable ? 1 : 0, size, hash);
      case Link(var target) -> List.of("link", 0, 0, target);
    };
  }

  /** Reads what {@link #wire} wrote, from the second item of the list on; empty when it is not. */
  static Optional<Entry> parse(List<Json> item) {
    if (item.size() < 5
        || !(item.get(1) instanceof Json.Text(var kind))
        || !(item.get(2) instanceof Json.Int(var x))
        || !(item.get(3) instanceof Json.Int(var size))
        || !(item.get(4) instanceof Json.Text(var content))) {
      return Optional.empty();
    }
    return switch (kind) {
      case "file" ->
          size >= 0 && Hashes.isHash(content)
              ? Optional.of(new File(size, x == 1, content))
              : Optional.empty();
      case "link" -> Optional.of(new Link(content));
      default -> Optional.empty();
    };
  }
}
