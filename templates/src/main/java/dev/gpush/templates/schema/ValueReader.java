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
import dev.gpush.templates.yaml.Position;
import dev.gpush.templates.yaml.Yaml;
import java.math.BigInteger;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
      case Simple.MOUNTS -> mounts(type, yaml);
      case Simple.BACKEND_NAMES -> names(type, yaml);
      case Simple.HOSTS -> new HostReader(path, flaws).read(type, yaml);
      case Simple.TEXTS -> list(type, yaml, MOST_NAMES, each -> text(path, each));
      case Simple.PORTS -> list(type, yaml, MOST_NAMES, each -> port(type, each));
      case Simple.SPANS ->
          yaml instanceof Yaml.Sequence
              ? list(type, yaml, MOST_WARNINGS, each -> span(Simple.SPAN, each))
              : wrong(type, yaml);
      case Simple.WARNING -> scalar(type, yaml, each -> warning(type, each));
      case Simple.YES_NO -> scalar(type, yaml, each -> yesNo(type, each));
      case Simple.TEXT -> scalar(type, yaml, each -> text(path, each));
      case Whole whole -> scalar(whole, yaml, each -> whole(whole, each));
      case Simple.SPAN -> scalar(type, yaml, each -> span(type, each));
      case Simple.SIZE -> scalar(type, yaml, each -> size(type, each));
      case Simple.GPUS -> scalar(type, yaml, each -> gpus(type, each));
      case OneOf oneOf -> scalar(oneOf, yaml, each -> oneOf(oneOf, each));
      case Simple.COMMITS -> scalar(type, yaml, each -> matching(type, each, COMMITS));
      case Simple.TEMPLATE_NAME -> scalar(type, yaml, each -> matching(type, each, NAME));
      case Simple.FILE_PATH -> scalar(type, yaml, each -> matching(type, each, FILE));
      case Simple.ABSOLUTE_PATH -> scalar(type, yaml, each -> matching(type, each, ABSOLUTE));
      case FolderOnNodes(var known) ->
          scalar(type, yaml, each -> place(path, each, at -> NodeFolder.flaw(at, known)));
      case PlaceOfData(var form) ->
          scalar(type, yaml, each -> place(path, each, at -> DataPlace.flaw(at, form)));
    };
  }

  private Optional<Json> scalar(
      ValueType type, Yaml yaml, Function<Yaml.Scalar, Optional<Json>> read) {
    return switch (yaml) {
      case Yaml.Scalar scalar when scalar.isNothing() -> {
        flaw(yaml, "has no value; it must be " + type.words());
        yield Optional.empty();
      }
      case Yaml.Scalar scalar -> read.apply(scalar);
      case Yaml.Sequence _ -> wrong(type, yaml, "a list");
      case Yaml.Mapping _ -> wrong(type, yaml, "keys with values");
    };
  }

  /** A list of scalars, or one of them alone. */
  private Optional<Json> list(
      ValueType type, Yaml yaml, int most, Function<Yaml.Scalar, Optional<Json>> read) {
    List<Yaml> items = yaml instanceof Yaml.Sequence(_, var all) ? all : List.of(yaml);
    return items.isEmpty() || items.size() > most
        ? wrong(type, yaml)
        : all(items, item -> scalar(type, item, read));
  }

  /** Empty when one of them has a flaw; those of all are found. */
  static Optional<Json> all(List<Yaml> items, Function<Yaml, Optional<Json>> read) {
    List<Json> values = items.stream().flatMap(item -> read.apply(item).stream()).toList();
    return values.size() == items.size() ? Optional.of(Json.array(values)) : Optional.empty();
  }

  /** Without those entries that have a flaw. */
  private static Optional<Json> table(
      List<Yaml.Entry> entries, Function<Yaml.Entry, Optional<Json>> read) {
    Map<String, Json> values = new LinkedHashMap<>();
    entries.forEach(entry -> read.apply(entry).ifPresent(value -> values.put(entry.key(), value)));
    return Optional.of(new Json.Obj(values));
  }

  private Optional<Json> text(String at, Yaml.Scalar scalar) {
    String text = scalar.text();
    return text.isEmpty() || text.length() > MOST_TEXT || text.indexOf('\0') >= 0
        ? flaw(scalar.at(), at, "must be text of 1 to " + MOST_TEXT + " characters without NUL")
        : Optional.of(Json.of(text));
  }

  private Optional<Json> place(
      String at, Yaml.Scalar scalar, Function<String, Optional<String>> flawOf) {
    Optional<Json> text = text(at, scalar);
    Optional<String> flaw = text.isEmpty() ? Optional.empty() : flawOf.apply(scalar.text());
    return flaw.isEmpty() ? text : flaw(scalar.at(), at, flaw.get());
  }

  private Optional<Json> mounts(ValueType type, Yaml yaml) {
    return yaml instanceof Yaml.Mapping(_, var entries) && entries.size() <= MOST_NAMES
        ? table(entries, this::mount)
        : wrong(type, yaml);
  }

  private Optional<Json> mount(Yaml.Entry entry) {
    String at = path + "." + entry.key();
    if (!MOUNT.matcher(entry.key()).matches() || DataPlace.TAKEN.contains(entry.key())) {
      return flaw(
          entry.at(),
          at,
          "cannot be the name of data: a-z, 0-9 and '_', at most 32, and none of "
              + String.join(", ", DataPlace.TAKEN.stream().sorted().toList()));
    }
    return entry.value() instanceof Yaml.Scalar scalar && !scalar.isNothing()
        ? place(at, scalar, text -> DataPlace.flaw(text, DataPlace.Form.READ))
        : flaw(entry.at(), at, "must be " + DataPlace.Form.READ.words());
  }

  private Optional<Json> yesNo(ValueType type, Yaml.Scalar scalar) {
    return switch (scalar.text()) {
      case "true" -> Optional.of(Json.of(true));
      case "false" -> Optional.of(Json.of(false));
      default -> wrong(type, scalar);
    };
  }

  private Optional<Json> port(ValueType type, Yaml.Scalar scalar) {
    return PortTarget.of(scalar.text()).isPresent()
        ? Optional.of(Json.of(scalar.text()))
        : wrong(type, scalar);
  }

  private Optional<Json> warning(ValueType type, Yaml.Scalar scalar) {
    Matcher match = WARNING.matcher(scalar.text());
    if (!match.matches()) {
      return wrong(type, scalar);
    }
    try {
      long seconds = DurationText.parse(path, match.group(2)).toSeconds();
      return seconds > LONGEST_WARNING.toSeconds()
          ? wrong(type, scalar)
          : Optional.of(Json.of(match.group(1) + "@" + seconds));
    } catch (GpushException notADuration) {
      return wrong(type, scalar);
    }
  }

  private Optional<Json> whole(Whole type, Yaml.Scalar scalar) {
    if (!scalar.isPlain() || !WHOLE.matcher(scalar.text()).matches()) {
      return wrong(type, scalar);
    }
    long number = Long.parseLong(scalar.text());
    return number < type.least() || number > type.most()
        ? wrong(type, scalar)
        : Optional.of(Json.of(number));
  }

  private Optional<Json> span(ValueType type, Yaml.Scalar scalar) {
    try {
      return Optional.of(Json.of(DurationText.parse(path, scalar.text()).toSeconds()));
    } catch (GpushException notADuration) {
      return wrong(type, scalar);
    }
  }

  private Optional<Json> size(ValueType type, Yaml.Scalar scalar) {
    Matcher match = SIZE.matcher(scalar.text());
    if (!match.matches()) {
      return wrong(type, scalar);
    }
    String letter = match.group(2).replace("i", "").replace('K', 'k');
    int power = letter.isEmpty() ? 0 : 1 + "kMGT".indexOf(letter);
    BigInteger unit = BigInteger.valueOf(match.group(2).endsWith("i") ? 1024 : 1000).pow(power);
    BigInteger bytes = new BigInteger(match.group(1)).multiply(unit);
    return bytes.bitLength() < Long.SIZE
        ? Optional.of(Json.of(bytes.longValue()))
        : wrong(type, scalar);
  }

  private Optional<Json> gpus(ValueType type, Yaml.Scalar scalar) {
    try {
      return Optional.of(Json.of(GpuRequest.parse(scalar.text()).toString()));
    } catch (GpushException notGpus) {
      return wrong(type, scalar);
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
        : wrong(type, scalar);
  }

  private Optional<Json> names(ValueType type, Yaml yaml) {
    return switch (yaml) {
      case Yaml.Mapping _ ->
          flaw(yaml, "must be " + type.words() + "; backends are defined in config.yaml");
      case Yaml.Scalar _ -> scalar(type, yaml, each -> wrong(type, each));
      case Yaml.Sequence(_, var items) when items.isEmpty() || items.size() > MOST_NAMES ->
          wrong(type, yaml, items.size() + " names");
      case Yaml.Sequence(_, var items) -> {
        var names = new HashSet<String>();
        yield all(items, item -> name(item, names));
      }
    };
  }

  private Optional<Json> name(Yaml item, Set<String> before) {
    if (!(item instanceof Yaml.Scalar(_, var name, _)) || !NAME.matcher(name).matches()) {
      return flaw(item, "must be the name of a backend: a-z, 0-9 and '-', at most 32");
    }
    return before.add(name) ? Optional.of(Json.of(name)) : flaw(item, name + " is listed twice");
  }

  private Optional<Json> variables(ValueType type, Yaml yaml) {
    return switch (yaml) {
      case Yaml.Scalar scalar when scalar.isNothing() -> Optional.of(Json.object());
      case Yaml.Scalar _ -> wrong(type, yaml);
      case Yaml.Sequence _ -> wrong(type, yaml, "a list");
      case Yaml.Mapping(_, var entries) when entries.size() > MOST_VARIABLES ->
          wrong(
              type, yaml, entries.size() + " of them; at most " + MOST_VARIABLES + " are allowed");
      case Yaml.Mapping(_, var entries) -> table(entries, this::variable);
    };
  }

  private Optional<Json> prices(ValueType type, Yaml yaml) {
    return yaml instanceof Yaml.Mapping(_, var entries) && entries.size() <= MOST_NAMES
        ? table(entries, this::price)
        : wrong(type, yaml, "another kind of value");
  }

  private Optional<Json> price(Yaml.Entry entry) {
    String what = "must be a number, such as 2.49: the price of one GPU for an hour";
    return entry.value() instanceof Yaml.Scalar(_, var text, _) && PRICE.matcher(text).matches()
        ? Optional.of(Json.of(Double.parseDouble(text)))
        : flaw(entry.at(), path + "." + entry.key(), what);
  }

  private Optional<Json> variable(Yaml.Entry entry) {
    String at = path + "." + entry.key();
    if (!VARIABLE.matcher(entry.key()).matches()) {
      return flaw(entry.at(), at, "a variable's name is letters, digits and '_', no digit first");
    }
    Yaml value = entry.value();
    return switch (value) {
      case Yaml.Scalar(_, var text, var isPlain) when text.isEmpty() && !isPlain ->
          Optional.of(Json.of(""));
      case Yaml.Scalar scalar when scalar.isNothing() ->
          flaw(value.at(), at, "has no value; write \"\" for an empty one");
      case Yaml.Scalar scalar -> text(at, scalar);
      case Yaml.Sequence _ -> flaw(value.at(), at, "must be text, not a list");
      case Yaml.Mapping _ -> flaw(value.at(), at, "must be text, not keys with values");
    };
  }

  private static String shown(Yaml yaml) {
    return switch (yaml) {
      case Yaml.Scalar(_, var text, var isPlain) -> {
        String capped = CleanText.line(text, MOST_SHOWN);
        yield isPlain ? capped : '"' + capped + '"';
      }
      case Yaml.Sequence(_, var items) -> "a list of " + items.size();
      case Yaml.Mapping _ -> "keys with values";
    };
  }

  private Optional<Json> wrong(ValueType type, Yaml yaml) {
    return wrong(type, yaml, shown(yaml));
  }

  private Optional<Json> wrong(ValueType type, Yaml yaml, String not) {
    return flaw(yaml, "must be " + type.words() + ", not " + not);
  }

  private Optional<Json> flaw(Yaml yaml, String what) {
    return flaw(yaml.at(), path, what);
  }

  private Optional<Json> flaw(Position at, String key, String what) {
    flaws.accept(new Flaw(at, key, what));
    return Optional.empty();
  }
}
