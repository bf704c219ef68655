package dev.gpush.templates;

import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.config.Config;
import dev.gpush.core.config.Config.Unsupported;
import dev.gpush.core.config.Configs;
import dev.gpush.core.config.Setting;
import dev.gpush.core.config.TaskFile;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.ConfigFailure.Problem;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Nearest;
import dev.gpush.templates.schema.Found;
import dev.gpush.templates.schema.Key;
import dev.gpush.templates.schema.Place;
import dev.gpush.templates.schema.Schema;
import dev.gpush.templates.schema.ValueText;
import dev.gpush.templates.schema.ValueType;
import dev.gpush.templates.yaml.Flaw;
import dev.gpush.templates.yaml.Yaml;
import dev.gpush.templates.yaml.YamlReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The configuration from YAML files: gpush.local.yaml over gpush.yaml over the template it inherits
 * over config.yaml over site.yaml over the built-in values. Nothing is cached: an edited file
 * applies to the next command. Thread-safe.
 */
public final class YamlConfigs implements Configs {
  /** The backend that exists without configuration. */
  private static final String LOCAL = "local";

  private static final String BUILT_IN = Setting.BUILT_IN;

  private static final String OWNER = "owner";

  private final Path home;
  private final Path site;
  private final String login;
  private final Templates templates;

  /**
   * Reads the files of one home.
   *
   * @param home GPUSH_HOME
   * @param site the file under every user's configuration: /etc/gpush/site.yaml
   * @param login the login name: the owner where no file names one
   */
  public YamlConfigs(Path home, Path site, String login) {
    this.home = home;
    this.site = site;
    this.login = login;
    this.templates = new Templates(home.resolve("templates"));
  }

  @Override
  public Config load(Path folder) {
    WorkspaceRoot root = WorkspaceRoot.of(folder);
    SettingsFile local = SettingsFile.read(root.path().resolve("gpush.local.yaml"), Place.PROJECT);
    SettingsFile project =
        SettingsFile.read(root.path().resolve(WorkspaceRoot.PROJECT_FILE), Place.PROJECT);
    SettingsFile person = SettingsFile.read(home.resolve("config.yaml"), Place.PERSON);
    SettingsFile below = SettingsFile.read(site, Place.SITE);

    var layers = new ArrayList<>(List.of(local, project));
    layers.addAll(templates.inherited(layers));
    layers.addAll(List.of(person, below));

    List<BackendConfig> backends = backends(person, below);
    var problems = new ArrayList<Problem>();
    layers.forEach(layer -> problems.addAll(layer.problems()));
    layers.forEach(layer -> problems.addAll(unknownBackends(layer, backends)));
    if (!problems.isEmpty()) {
      throw new GpushException(new ConfigFailure.Invalid(problems));
    }
    List<String> order = order(layers, backends);
    var settings = new ArrayList<Setting>();
    Schema.settings().forEach(key -> settings.add(setting(key, layers, order)));
    settings.add(owner(person));
    settings.addAll(ofGateway(person, below));
    settings.addAll(places(person, below));
    List<Unsupported> unsupported =
        layers.stream().flatMap(layer -> layer.unsupported().stream()).toList();
    return new Config(root.path(), root.reason(), settings, backends, order, unsupported);
  }

  private Setting owner(SettingsFile person) {
    return person
        .find(OWNER)
        .map(value -> new Setting(OWNER, value.value(), value.text(), person.origin(value)))
        .orElseGet(() -> new Setting(OWNER, Json.of(login), login, "login name"));
  }

  /** What is set of the ssh server's keys; the user's file counts before the site's. */
  private static List<Setting> ofGateway(SettingsFile person, SettingsFile site) {
    Map<String, Setting> settings = new LinkedHashMap<>();
    for (SettingsFile file : List.of(person, site)) {
      for (Found value : file.found()) {
        if (value.path().startsWith("gateway.")) {
          settings.putIfAbsent(
              value.path(),
              new Setting(value.path(), value.value(), value.text(), file.origin(value)));
        }
      }
    }
    return List.copyOf(settings.values());
  }

  /** Every value of every backend, with the line that it comes from. */
  private static List<Setting> places(SettingsFile person, SettingsFile site) {
    Map<String, List<Setting>> blocks = new LinkedHashMap<>();
    for (SettingsFile file : List.of(site, person)) {
      Map<String, List<Setting>> own = new LinkedHashMap<>();
      for (Found value : file.found()) {
        if (value.key().path().startsWith("backends.*.")) {
          own.computeIfAbsent(backend(value), _ -> new ArrayList<>())
              .add(new Setting(value.path(), value.value(), value.text(), file.origin(value)));
        }
      }
      blocks.putAll(own);
    }
    blocks.putIfAbsent(
        LOCAL, List.of(new Setting("backends.local.kind", Json.of(LOCAL), LOCAL, BUILT_IN)));
    return blocks.values().stream().flatMap(List::stream).toList();
  }

  /** The name of the backend whose value it is. */
  private static String backend(Found value) {
    return value.path().split("\\.", -1)[1];
  }

  @Override
  public TaskFile task(String file, Path path) {
    try {
      // One byte more than it may have, so that the reader says that it is too long.
      try (InputStream input = Files.newInputStream(path)) {
        return SkyTask.read(file, input.readNBytes(YamlReader.MOST_BYTES + 1));
      }
    } catch (IOException unreadable) {
      throw new GpushException(
          new ConfigFailure.Unreadable(file, FileReason.of(unreadable)), unreadable);
    }
  }

  @Override
  public List<Template> templates(Path folder) {
    return templates.all();
  }

  private static Setting setting(Key key, List<SettingsFile> layers, List<String> order) {
    if (key.setting().equals("env")) {
      return variables(layers);
    }
    for (SettingsFile layer : layers) {
      Optional<Found> value = layer.find(key.setting());
      if (value.isPresent()) {
        Found found = value.get();
        return new Setting(key.setting(), found.value(), found.text(), layer.origin(found));
      }
    }
    Json builtIn = key.setting().equals("backends") ? Json.array(order) : key.builtIn();
    return new Setting(key.setting(), builtIn, ValueText.of(key.type(), builtIn), BUILT_IN);
  }

  /** Variables add up; if several files set the same one, the highest counts. */
  private static Setting variables(List<SettingsFile> layers) {
    var variables = new LinkedHashMap<String, Json>();
    var origins = new ArrayList<String>();
    for (SettingsFile layer : layers) {
      Optional<Found> value = layer.find("env");
      if (value.isPresent()) {
        value.get().value().entries().forEach(variables::putIfAbsent);
        origins.add(layer.origin(value.get()));
      }
    }
    var value = new Json.Obj(variables);
    return new Setting(
        "env",
        value,
        ValueText.of(ValueType.Simple.VARIABLES, value),
        origins.isEmpty() ? BUILT_IN : String.join(", ", origins));
  }

  /** All blocks, the user's over the site's of the same name, and the one that needs no block. */
  private static List<BackendConfig> backends(SettingsFile person, SettingsFile site) {
    Map<String, BackendConfig> backends = new LinkedHashMap<>();
    blocks(site).forEach(block -> backends.put(block.name(), block));
    blocks(person).forEach(block -> backends.put(block.name(), block));
    backends.putIfAbsent(LOCAL, new BackendConfig(LOCAL, LOCAL, Json.object(), BUILT_IN));
    return List.copyOf(backends.values());
  }

  private static List<BackendConfig> blocks(SettingsFile file) {
    Map<String, Map<String, Found>> blocks =
        file.found().stream()
            .filter(value -> value.key().path().startsWith("backends.*."))
            .collect(
                Collectors.groupingBy(
                    YamlConfigs::backend,
                    LinkedHashMap::new,
                    Collectors.toMap(
                        value -> value.key().path().substring("backends.*.".length()),
                        value -> value,
                        (first, _) -> first,
                        LinkedHashMap::new)));
    var configs = new ArrayList<BackendConfig>();
    blocks.forEach(
        (name, values) -> {
          Json.Obj fields = Json.object();
          for (var value : values.entrySet()) {
            fields = put(fields, value.getKey(), value.getValue().value());
          }
          String kind = fields.text("kind").orElse(LOCAL);
          var others = new LinkedHashMap<>(fields.entries());
          others.remove("kind");
          String origin = file.origin(values.values().iterator().next());
          configs.add(new BackendConfig(name, kind, new Json.Obj(others), origin));
        });
    return configs;
  }

  /** {@code time.default} is in its own object, as in the file. */
  private static Json.Obj put(Json.Obj fields, String path, Json value) {
    int dot = path.indexOf('.');
    if (dot < 0) {
      return fields.with(path, value);
    }
    String first = path.substring(0, dot);
    return fields.with(first, put(fields.object(first), path.substring(dot + 1), value));
  }

  private static List<String> order(List<SettingsFile> layers, List<BackendConfig> backends) {
    for (SettingsFile layer : layers) {
      Optional<Found> value = layer.find("backends");
      if (value.isPresent()) {
        return value.get().value().items().stream()
            .flatMap(name -> name.asText().stream())
            .toList();
      }
    }
    var names = new ArrayList<>(backends.stream().map(BackendConfig::name).toList());
    names.remove(LOCAL);
    names.add(LOCAL);
    return names;
  }

  private static List<Problem> unknownBackends(SettingsFile file, List<BackendConfig> backends) {
    List<String> known = backends.stream().map(BackendConfig::name).toList();
    var problems = new ArrayList<Problem>();
    for (Found value : file.found()) {
      if (value.key().setting().equals("backends")
          && value.source() instanceof Yaml.Sequence(_, var items)) {
        for (Yaml item : items) {
          if (item instanceof Yaml.Scalar(var at, var name, _) && !known.contains(name)) {
            String what = "no backend " + name + " is configured in config.yaml";
            var flaw = new Flaw(at, value.path(), what, Nearest.one(name, known));
            problems.add(SettingsFile.problem(file.name(), flaw));
          }
        }
      }
    }
    return problems;
  }
}
