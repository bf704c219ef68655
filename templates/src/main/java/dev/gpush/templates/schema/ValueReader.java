package dev.gpush.templates.schema;

import dev.gpush.core.config.DataPlace;
import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.PortTarget;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.CleanText;
import dev.gpush.core.text.Nearest;
import dev.gpush.templates.schema.ValueType.FolderOnNodes;
import dev.gpush.templates.schema.ValueType.OneOf;
import dev.gpush.templates.schema.ValueType.PlaceOfData;
import dev.gpush.templates.schema.ValueType.Simple;
import dev.gpush.templates.schema.ValueType.Whole;
import dev.gpush.templates.yaml.Flaw;
import dev.gpush.templates.yaml.Yaml;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads one value as its type requires; mistakes go to the consumer of flaws. */
final class ValueReader {
  /** The name of a backend or template. */
  static final Pattern NAME = Pattern.compile("[a-z][a-z0-9-]{0,31}");

  static final Pattern COMMITS = Pattern.compile("all|none|[1-9][0-9]{0,8}");

  static final Pattern ABSOLUTE = Pattern.compile("/[^\\x00-\\x1f]*");

  /** No shell reads it, so a tilde would be the name of a folder. */
  static final Pattern FILE = Pattern.compile("[^~\\x00-\\x1f][^\\x00-\\x1f]*");

  /** The longest path of Linux; no sensible value of a variable is longer. */
  static final int MOST_TEXT = 4096;

  static final Pattern PRICE = Pattern.compile("[0-9]{1,6}(\\.[0-9]{1,4})?");

  static final int MOST_NAMES = 64;
  static final int MOST_VARIABLES = 512;
  private static final int MOST_SHOWN = 40;

  /** The agent accepts no more. */
  static final int MOST_WARNINGS = 16;

  private static final Duration LONGEST_WARNING = Duration.ofDays(31);

  private static final Pattern WHOLE = Pattern.compile("-?[0-9]{1,9}");
  static final Pattern SIZE = Pattern.compile("([0-9]{1,9}) ?(|[kKMGT]i?)B?");
  static final Pattern WARNING =
      Pattern.compile("(?:SIG)?(USR1|USR2|INT|TERM|HUP|QUIT)@([0-9dhms]+)");

  /** The name of a mount. */
  static final Pattern MOUNT = Pattern.compile("[a-z][a-z0-9_]{0,31}");

  static final Pattern VARIABLE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,254}");

  private final String path;
  private final Consumer<Flaw> flaws;

  ValueReader(String path, Consumer<Flaw> flaws) {
    this.path = path;
    this.flaws = flaws;
  }

  Optional<Json> read(ValueType type, Yaml yaml) {
    return switch (type) {
      case Simple.VARIABLES -> variables(type, yaml);
      case Simple.PRICES -> prices(type, yaml);
      case Simple.BACKEND_NAMES -> names(type, yaml);
      case Simple.HOSTS -> new HostReader(path, flaws).read(type, yaml);
      case Simple.TEXTS -> texts(type, yaml);
      case Simple.PORTS -> ports(type, yaml);
      case Simple.SPANS -> spans(type, yaml);
      case Simple.WARNING -> scalar(type, yaml).flatMap(scalar -> warning(type, scalar));
      case Simple.YES_NO -> scalar(type, yaml).flatMap(scalar -> yesNo(type, scalar));
      case Simple.TEXT -> scalar(type, yaml).flatMap(scalar -> text(path, scalar));
      case Whole whole -> scalar(whole, yaml).flatMap(scalar -> whole(whole, scalar));
      case Simple.SPAN -> scalar(type, yaml).flatMap(scalar -> span(type, scalar));
      case Simple.SIZE -> scalar(type, yaml).flatMap(scalar -> size(type, scalar));
      case Simple.GPUS -> scalar(type, yaml).flatMap(scalar -> gpus(type, scalar));
      case OneOf oneOf -> scalar(oneOf, yaml).flatMap(scalar -> oneOf(oneOf, scalar));
      case Simple.COMMITS -> scalar(type, yaml).flatMap(scalar -> matching(type, scalar, COMMITS));
      case Simple.TEMPLATE_NAME ->
          scalar(type, yaml).flatMap(scalar -> matching(type, scalar, NAME));
      case FolderOnNodes folder ->
          scalar(folder, yaml)
              .flatMap(
                  scalar -> place(path, scalar, at -> NodeFolder.flaw(at, folder.variables())));
      case PlaceOfData data ->
          scalar(data, yaml)
              .flatMap(scalar -> place(path, scalar, at -> DataPlace.flaw(at, data.form())));
      case Simple.MOUNTS -> mounts(type, yaml);
      case Simple.FILE_PATH -> scalar(type, yaml).flatMap(scalar -> matching(type, scalar, FILE));
      case Simple.ABSOLUTE_PATH ->
          scalar(type, yaml).flatMap(scalar -> matching(type, scalar, ABSOLUTE));
    };
  }

  private Optional<Yaml.Scalar> scalar(ValueType type, Yaml yaml) {
    return switch (yaml) {
      case Yaml.Scalar scalar when scalar.isNothing() -> {
        flaw(yaml, "has no value; it must be " + type.words());
        yield Optional.empty();
      }
      case Yaml.Scalar scalar -> Optional.of(scalar);
      case Yaml.Sequence _ -> wrong(type, yaml, "a list");
      case Yaml.Mapping _ -> wrong(type, yaml, "keys with values");
    };
  }

  private Optional<Json> text(String at, Yaml.Scalar scalar) {
    String text = scalar.text();
    if (text.isEmpty() || text.length() > MOST_TEXT || text.indexOf('\0') >= 0) {
      flaws.accept(
          new Flaw(
              scalar.at(), at, "must be text of 1 to " + MOST_TEXT + " characters without NUL"));
      return Optional.empty();
    }
    return Optional.of(Json.of(text));
  }

  private Optional<Json> place(
      String at, Yaml.Scalar scalar, Function<String, Optional<String>> flawOf) {
    Optional<Json> text = text(at, scalar);
    Optional<String> flaw = text.isEmpty() ? Optional.empty() : flawOf.apply(scalar.text());
    flaw.ifPresent(what -> flaws.accept(new Flaw(scalar.at(), at, what)));
    return flaw.isEmpty() ? text : Optional.empty();
  }

  private Optional<Json> mounts(ValueType type, Yaml yaml) {
    if (!(yaml instanceof Yaml.Mapping(_, var entries)) || entries.size() > MOST_NAMES) {
      return wrong(type, yaml, shown(yaml));
    }
    Map<String, Json> mounts = new LinkedHashMap<>();
    for (Yaml.Entry entry : entries) {
      String at = path + "." + entry.key();
      if (!MOUNT.matcher(entry.key()).matches() || DataPlace.TAKEN.contains(entry.key())) {
        String what =
            "cannot be the name of data: a-z, 0-9 and '_', at most 32, and none of "
                + String.join(", ", DataPlace.TAKEN.stream().sorted().toList());
        flaws.accept(new Flaw(entry.at(), at, what));
      } else if (entry.value() instanceof Yaml.Scalar scalar && !scalar.isNothing()) {
        place(at, scalar, text -> DataPlace.flaw(text, DataPlace.Form.READ))
            .ifPresent(value -> mounts.put(entry.key(), value));
      } else {
        flaws.accept(new Flaw(entry.at(), at, "must be " + DataPlace.Form.READ.words()));
      }
    }
    return Optional.of(new Json.Obj(mounts));
  }

  private Optional<Json> texts(ValueType type, Yaml yaml) {
    if (!(yaml instanceof Yaml.Sequence(_, var items))) {
      return scalar(type, yaml)
          .flatMap(scalar -> text(path, scalar))
          .map(text -> Json.array(List.of(text)));
    }
    if (items.isEmpty() || items.size() > MOST_NAMES) {
      return wrong(type, yaml, "a list of " + items.size());
    }
    var texts = new ArrayList<Json>();
    for (Yaml item : items) {
      scalar(type, item).flatMap(scalar -> text(path, scalar)).ifPresent(texts::add);
    }
    return texts.size() == items.size() ? Optional.of(Json.array(texts)) : Optional.empty();
  }

  private Optional<Json> yesNo(ValueType type, Yaml.Scalar scalar) {
    return switch (scalar.text()) {
      case "true" -> Optional.of(Json.of(true));
      case "false" -> Optional.of(Json.of(false));
      default -> wrong(type, scalar, shown(scalar));
    };
  }

  private Optional<Json> spans(ValueType type, Yaml yaml) {
    if (!(yaml instanceof Yaml.Sequence(_, var items))
        || items.isEmpty()
        || items.size() > MOST_WARNINGS) {
      return wrong(type, yaml, shown(yaml));
    }
    var spans = new ArrayList<Json>();
    for (Yaml item : items) {
      scalar(type, item).flatMap(scalar -> span(Simple.SPAN, scalar)).ifPresent(spans::add);
    }
    return spans.size() == items.size() ? Optional.of(Json.array(spans)) : Optional.empty();
  }

  private Optional<Json> ports(ValueType type, Yaml yaml) {
    List<Yaml> items = yaml instanceof Yaml.Sequence(_, var all) ? all : List.of(yaml);
    if (items.isEmpty() || items.size() > MOST_NAMES) {
      return wrong(type, yaml, shown(yaml));
    }
    var ports = new ArrayList<Json>();
    for (Yaml item : items) {
      scalar(type, item)
          .flatMap(
              scalar ->
                  PortTarget.of(scalar.text()).isPresent()
                      ? Optional.of(Json.of(scalar.text()))
                      : wrong(type, scalar, shown(scalar)))
          .ifPresent(ports::add);
    }
    return ports.size() == items.size() ? Optional.of(Json.array(ports)) : Optional.empty();
  }

  private static String shown(Yaml yaml) {
    return switch (yaml) {
      case Yaml.Scalar scalar -> shown(scalar);
      case Yaml.Sequence(_, var items) -> "a list of " + items.size();
      case Yaml.Mapping _ -> "keys with values";
    };
  }

  private Optional<Json> warning(ValueType type, Yaml.Scalar scalar) {
    Matcher match = WARNING.matcher(scalar.text());
    if (!match.matches()) {
      return wrong(type, scalar, shown(scalar));
    }
    try {
      long seconds = DurationText.parse(path, match.group(2)).toSeconds();
      return seconds > LONGEST_WARNING.toSeconds()
          ? wrong(type, scalar, shown(scalar))
          : Optional.of(Json.of(match.group(1) + "@" + seconds));
    } catch (GpushException notADuration) {
      return wrong(type, scalar, shown(scalar));
    }
  }

  private Optional<Json> whole(Whole type, Yaml.Scalar scalar) {
    if (!scalar.isPlain() || !WHOLE.matcher(scalar.text()).matches()) {
      return wrong(type, scalar, shown(scalar));
    }
    long number = Long.parseLong(scalar.text());
    return number < type.least() || number > type.most()
        ? wrong(type, scalar, shown(scalar))
        : Optional.of(Json.of(number));
  }

  private Optional<Json> span(ValueType type, Yaml.Scalar scalar) {
    try {
      return Optional.of(Json.of(DurationText.parse(path, scalar.text()).toSeconds()));
    } catch (GpushException notADuration) {
      return wrong(type, scalar, shown(scalar));
    }
  }

  private Optional<Json> size(ValueType type, Yaml.Scalar scalar) {
    Matcher match = SIZE.matcher(scalar.text());
    if (!match.matches()) {
      return wrong(type, scalar, shown(scalar));
    }
    String letter = match.group(2).replace("i", "").replace('K', 'k');
    int power = letter.isEmpty() ? 0 : 1 + "kMGT".indexOf(letter);
    BigInteger unit = BigInteger.valueOf(match.group(2).endsWith("i") ? 1024 : 1000).pow(power);
    BigInteger bytes = new BigInteger(match.group(1)).multiply(unit);
    return bytes.bitLength() < Long.SIZE
        ? Optional.of(Json.of(bytes.longValue()))
        : wrong(type, scalar, shown(scalar));
  }

  private Optional<Json> gpus(ValueType type, Yaml.Scalar scalar) {
    try {
      return Optional.of(Json.of(GpuRequest.parse(scalar.text()).toString()));
    } catch (GpushException notGpus) {
      return wrong(type, scalar, shown(scalar));
    }
  }

  private Optional<Json> oneOf(OneOf type, Yaml.Scalar scalar) {
    if (type.choices().contains(scalar.text())) {
      return Optional.of(Json.of(scalar.text()));
    }
    String what = "must be " + type.words() + ", not " + shown(scalar);
    Optional<String> nearest = Nearest.one(scalar.text(), type.choices());
    flaws.accept(new Flaw(scalar.at(), path, what, nearest));
    return Optional.empty();
  }

  private Optional<Json> matching(ValueType type, Yaml.Scalar scalar, Pattern rule) {
    return scalar.text().length() <= MOST_TEXT && rule.matcher(scalar.text()).matches()
        ? Optional.of(Json.of(scalar.text()))
        : wrong(type, scalar, shown(scalar));
  }

  private Optional<Json> names(ValueType type, Yaml yaml) {
    if (yaml instanceof Yaml.Mapping) {
      flaw(yaml, "must be " + type.words() + "; backends are defined in config.yaml");
      return Optional.empty();
    }
    if (!(yaml instanceof Yaml.Sequence(_, var items))) {
      return scalar(type, yaml).flatMap(scalar -> wrong(type, scalar, shown(scalar)));
    }
    if (items.isEmpty() || items.size() > MOST_NAMES) {
      return wrong(type, yaml, items.size() + " names");
    }
    var names = new ArrayList<String>();
    for (Yaml item : items) {
      if (!(item instanceof Yaml.Scalar name) || !NAME.matcher(name.text()).matches()) {
        flaw(item, "must be the name of a backend: a-z, 0-9 and '-', at most 32");
      } else if (names.contains(name.text())) {
        flaw(item, name.text() + " is listed twice");
      } else {
        names.add(name.text());
      }
    }
    return names.size() == items.size() ? Optional.of(Json.array(names)) : Optional.empty();
  }

  private Optional<Json> variables(ValueType type, Yaml yaml) {
    if (!(yaml instanceof Yaml.Mapping(_, var entries))) {
      return switch (yaml) {
        case Yaml.Scalar scalar when scalar.isNothing() -> Optional.of(Json.object());
        case Yaml.Scalar scalar -> wrong(type, scalar, shown(scalar));
        case Yaml.Sequence _, Yaml.Mapping _ -> wrong(type, yaml, "a list");
      };
    }
    if (entries.size() > MOST_VARIABLES) {
      return wrong(
          type, yaml, entries.size() + " of them; at most " + MOST_VARIABLES + " are allowed");
    }
    Map<String, Json> variables = new LinkedHashMap<>();
    for (Yaml.Entry entry : entries) {
      variable(entry).ifPresent(value -> variables.put(entry.key(), value));
    }
    return Optional.of(new Json.Obj(variables));
  }

  private Optional<Json> prices(ValueType type, Yaml yaml) {
    if (!(yaml instanceof Yaml.Mapping(_, var entries)) || entries.size() > MOST_NAMES) {
      return wrong(type, yaml, "another kind of value");
    }
    Map<String, Json> prices = new LinkedHashMap<>();
    for (Yaml.Entry entry : entries) {
      if (entry.value() instanceof Yaml.Scalar(_, var text, _) && PRICE.matcher(text).matches()) {
        prices.put(entry.key(), Json.of(Double.parseDouble(text)));
      } else {
        String what = "must be a number, such as 2.49: the price of one GPU for an hour";
        flaws.accept(new Flaw(entry.at(), path + "." + entry.key(), what));
      }
    }
    return Optional.of(new Json.Obj(prices));
  }

  private Optional<Json> variable(Yaml.Entry entry) {
    String at = path + "." + entry.key();
    if (!VARIABLE.matcher(entry.key()).matches()) {
      flaws.accept(
          new Flaw(entry.at(), at, "a variable's name is letters, digits and '_', no digit first"));
      return Optional.empty();
    }
    return switch (entry.value()) {
      case Yaml.Scalar(_, var text, var isPlain) when text.isEmpty() && !isPlain ->
          Optional.of(Json.of(""));
      case Yaml.Scalar scalar when scalar.isNothing() -> {
        flaws.accept(new Flaw(scalar.at(), at, "has no value; write \"\" for an empty one"));
        yield Optional.empty();
      }
      case Yaml.Scalar scalar -> text(at, scalar);
      case Yaml.Sequence sequence -> {
        flaws.accept(new Flaw(sequence.at(), at, "must be text, not a list"));
        yield Optional.empty();
      }
      case Yaml.Mapping mapping -> {
        flaws.accept(new Flaw(mapping.at(), at, "must be text, not keys with values"));
        yield Optional.empty();
      }
    };
  }

  private static String shown(Yaml.Scalar scalar) {
    String capped = CleanText.line(scalar.text(), MOST_SHOWN);
    return scalar.isPlain() ? capped : '"' + capped + '"';
  }

  private <T> Optional<T> wrong(ValueType type, Yaml yaml, String not) {
    flaw(yaml, "must be " + type.words() + ", not " + not);
    return Optional.empty();
  }

  private void flaw(Yaml yaml, String what) {
    flaws.accept(new Flaw(yaml.at(), path, what));
  }
}
