package dev.gpush.core.config;

import dev.gpush.core.text.CleanText;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Where data is, as a configuration names it: a folder on the nodes, {@code /scratch/$USER/c4}, or
 * a volume that the backend mounts into them, {@code pvc/datasets/c4:ro}.
 */
public sealed interface DataPlace {
  String VOLUME = "pvc/";

  /** Names that no mount can have: $GPUSH_RUN and others mean something else, or will. */
  Set<String> TAKEN =
      Set.of(
          "agent",
          "gang",
          "home",
          "launcher",
          "mark",
          "node",
          "nodes",
          "node_addrs",
          "output",
          "outputs",
          "prompt",
          "restart",
          "run",
          "session",
          "workspace");

  /** Which places a key takes. */
  enum Form {
    /** Data that is read, or read and written. */
    READ("a folder on the nodes, /PATH or ~/PATH, or a volume, pvc/CLAIM/FOLDER or pvc/CLAIM:ro"),

    /** Data that is written. */
    WRITTEN(NodeFolder.Variables.USER_AND_HOME.words() + ", or a volume, pvc/CLAIM/FOLDER"),

    /** Only a volume, which is written. */
    VOLUME("a volume, such as pvc/home-{user}");

    private final String words;

    Form(String words) {
      this.words = words;
    }

    /** Finishes the sentence "must be …". */
    public String words() {
      return words;
    }
  }

  /** A folder that is on the nodes already. */
  record Folder(NodeFolder folder) implements DataPlace {}

  /**
   * A volume of the backend.
   *
   * @param claim the name of its PersistentVolumeClaim
   * @param folder in the volume, with a slash before each name; empty: all of it
   */
  record Volume(String claim, String folder, boolean isReadOnly) implements DataPlace {
    private static final Pattern TEXT =
        Pattern.compile("pvc/([a-z0-9{][-.a-z0-9{}]{0,250})((?:/[^/:\\x00-\\x1f]+)*)/?(:ro)?");

    private static final String OWNER = "{user}";
    private static final Set<String> STEPS = Set.of(".", "..");

    private static Optional<Volume> of(String text) {
      Matcher match = TEXT.matcher(text);
      if (!match.matches()
          || Arrays.stream(match.group(2).split("/")).anyMatch(STEPS::contains)
          || text.replace(OWNER, "").matches(".*[{}].*")) {
        return Optional.empty();
      }
      return Optional.of(new Volume(match.group(1), match.group(2), match.group(3) != null));
    }

    /** With the name of the owner for {@code {user}}, as a cluster and a folder can have it. */
    public Volume of(OwnerName owner) {
      return new Volume(
          claim.replace(OWNER, owner.inClaims()),
          folder.replace(OWNER, owner.inFolders()),
          isReadOnly);
    }

    /** As it is written in a configuration. */
    public String text() {
      return VOLUME + claim + folder + (isReadOnly ? ":ro" : "");
    }
  }

  /** The name of a session's owner where {@code {user}} is written. */
  record OwnerName(String name) {
    String inClaims() {
      return name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9-]", "-");
    }

    String inFolders() {
      return name.replaceAll("[^A-Za-z0-9._-]", "-").replaceFirst("^\\.", "-");
    }
  }

  /** Why a text is no such place, as a sentence without its subject. */
  static Optional<String> flaw(String text, Form form) {
    if (!text.startsWith(VOLUME)) {
      return form == Form.VOLUME ? no(form, text) : NodeFolder.flaw(text, form.words());
    }
    Optional<Volume> volume = Volume.of(text);
    if (volume.isPresent() && volume.get().isReadOnly() && form != Form.READ) {
      return Optional.of("is written, so that it cannot be read-only: " + CleanText.line(text));
    }
    return volume.isEmpty() ? no(form, text) : Optional.empty();
  }

  private static Optional<String> no(Form form, String text) {
    return Optional.of("must be " + form.words() + ", not " + CleanText.line(text));
  }

  /** Of a text without a flaw. */
  static DataPlace of(String text) {
    return text.startsWith(VOLUME)
        ? Volume.of(text).orElseThrow(() -> new IllegalArgumentException(text))
        : new Folder(new NodeFolder(text));
  }
}
