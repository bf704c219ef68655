package dev.gpush.sync.node;

import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Names on a node that gpush did not write, in the folders that were asked for and have some.
 *
 * @param folders by their path, which is empty for the workspace itself
 */
public record FoundNames(Map<String, Folder> folders) {
  public FoundNames {
    folders = Map.copyOf(folders);
  }

  /**
   * One folder.
   *
   * @param whyNotAll why some names were not looked at
   */
  public record Folder(List<Name> names, Optional<String> whyNotAll) {
    public Folder {
      names = List.copyOf(names);
    }
  }

  /** What a name is. */
  public enum Kind {
    FILE,
    LINK,
    FOLDER,
    OTHER;

    private static Optional<Kind> of(String word) {
      return switch (word) {
        case "file" -> Optional.of(FILE);
        case "link" -> Optional.of(LINK);
        case "folder" -> Optional.of(FOLDER);
        case "other" -> Optional.of(OTHER);
        default -> Optional.empty();
      };
    }
  }

  /** Who may have made a file. */
  public enum Maker {
    /** Git tracks it, or something in the folder, in the repository that follows the laptop's. */
    GIT,
    /** A run was on when it was changed last. */
    RUN,
    UNKNOWN;

    private static Maker of(Json isOfRun, Json isTracked) {
      Json yes = Json.of(true);
      return isTracked.equals(yes) ? GIT : isOfRun.equals(yes) ? RUN : UNKNOWN;
    }
  }

  /**
   * One name in a folder.
   *
   * @param stamp another one after each change; of what is not looked at why not, or nothing
   * @param from the path of gpush that the file had before it was renamed
   */
  public record Name(
      String name, Kind kind, long size, String stamp, Optional<String> from, Maker maker) {
    private static final char REPLACED = '\uFFFD';

    /** Why what is no file, link or folder cannot come home. */
    public String whyNot() {
      if (name.indexOf(REPLACED) >= 0) {
        return "its name is not UTF-8";
      }
      return stamp.isEmpty() || stamp.indexOf('-') >= 0 ? "it is no file" : unreadable(stamp);
    }

    /** name, kind, size, stamp, from, of a run, tracked: an item in FOUND. */
    static Optional<Name> parse(List<Json> item) {
      if (item.size() < 6
          || !(item.get(0) instanceof Json.Text(var name))
          || !(item.get(1) instanceof Json.Text(var kind))
          || !(item.get(2) instanceof Json.Int(var size))
          || !(item.get(3) instanceof Json.Text(var stamp))) {
        return Optional.empty();
      }
      Maker maker = Maker.of(item.get(5), item.size() > 6 ? item.get(6) : Json.of(false));
      return Kind.of(kind)
          .filter(_ -> !name.isEmpty() && name.indexOf('/') < 0 && !name.equals(".."))
          .map(known -> new Name(name, known, size, stamp, item.get(4).asText(), maker));
    }
  }

  private static String unreadable(String code) {
    return "the node cannot read it: " + code;
  }

  /** Puts the parts of an answer together. */
  static final class Builder {
    /** More than an agent of ours says in one answer. */
    static final int MOST = 40_000;

    private int count;
    private final Map<String, List<Name>> names = new TreeMap<>();
    private final Map<String, String> whyNotAll = new TreeMap<>();

    /** Adds a part; false for what is none, or one too many. */
    boolean add(Json part) {
      for (Json folder : part.items("folders")) {
        List<Json> item = folder.items();
        if (item.size() < 3 || !(item.get(0) instanceof Json.Text(var path)) || ++count > MOST) {
          return false;
        }
        List<Name> found = names.computeIfAbsent(path, _ -> new ArrayList<>());
        for (Json name : item.get(1).items()) {
          Optional<Name> known = Name.parse(name.items());
          if (known.isEmpty() || ++count > MOST) {
            return false;
          }
          found.add(known.orElseThrow());
        }
        if (item.size() > 3 && item.get(3) instanceof Json.Text(var code)) {
          whyNotAll.put(path, unreadable(code));
        } else if (!item.get(2).equals(Json.of(true))) {
          whyNotAll.putIfAbsent(path, "it has too many new names");
        }
      }
      return true;
    }

    FoundNames build() {
      var folders = new TreeMap<String, Folder>();
      names.forEach(
          (path, found) ->
              folders.put(path, new Folder(found, Optional.ofNullable(whyNotAll.get(path)))));
      return new FoundNames(folders);
    }
  }
}
