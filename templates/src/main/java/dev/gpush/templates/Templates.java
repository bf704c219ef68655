package dev.gpush.templates;

import dev.gpush.core.config.Configs.Template;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.ConfigFailure.Problem;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.text.Nearest;
import dev.gpush.core.text.Resource;
import dev.gpush.templates.schema.Found;
import dev.gpush.templates.schema.Place;
import dev.gpush.templates.yaml.Flaw;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The session templates: those in the jar, and the user's own, which take precedence. */
final class Templates {
  /** Each is a resource {@code NAME.yaml}; a jar cannot be listed. */
  private static final List<String> SHIPPED = List.of("ddp", "hello", "one-gpu");

  /** More than this is a folder of something else. */
  private static final int MOST_OWN = 200;

  /** A longer chain is hard to understand. */
  private static final int MOST_INHERITED = 8;

  private static final Pattern FILE = Pattern.compile("[a-z][a-z0-9-]{0,31}\\.yaml");

  private final Path own;

  Templates(Path own) {
    this.own = own;
  }

  List<Template> all() {
    Map<String, Template> templates = new TreeMap<>();
    for (String name : SHIPPED) {
      String text = new String(shipped(name), StandardCharsets.UTF_8);
      templates.put(name, new Template(name, summary(text), text, "built in"));
    }
    for (Path file : ownFiles()) {
      String fileName = String.valueOf(file.getFileName());
      String name = fileName.substring(0, fileName.length() - ".yaml".length());
      String text = new String(SettingsFile.bytes(file), StandardCharsets.UTF_8);
      templates.put(name, new Template(name, summary(text), text, "templates/" + fileName));
    }
    return List.copyOf(templates.values());
  }

  /**
   * The files under a project's: what it inherits, what that inherits, and so on. An unknown name
   * or a circle is a mistake of the file that has it.
   */
  List<SettingsFile> inherited(List<SettingsFile> project) {
    var chain = new ArrayList<SettingsFile>();
    var names = new ArrayList<String>();
    Optional<SettingsFile> says =
        project.stream().filter(file -> file.find("inherits").isPresent()).findFirst();
    while (says.isPresent()) {
      SettingsFile heir = says.get();
      Found found = heir.find("inherits").orElseThrow();
      String name = found.value().asText().orElse("");
      SettingsFile next = template(heir, found, name, names);
      chain.add(next);
      names.add(name);
      says = next.find("inherits").isPresent() ? Optional.of(next) : Optional.empty();
    }
    return chain;
  }

  private SettingsFile template(SettingsFile heir, Found found, String name, List<String> before) {
    if (before.contains(name) || before.size() == MOST_INHERITED) {
      return broken(heir, found, "inherits in a circle, or more than " + MOST_INHERITED + " times");
    }
    Path file = own.resolve(name + ".yaml");
    // The name of the project's line stays in front, because it names the template.
    String origin = heir.origin(found).replaceFirst(" \\(.*", "");
    if (Files.exists(file)) {
      return SettingsFile.parse(name + ".yaml", Place.PROJECT, SettingsFile.bytes(file))
          .inheritedBy(origin);
    }
    if (SHIPPED.contains(name)) {
      return SettingsFile.parse(name + ".yaml", Place.PROJECT, shipped(name)).inheritedBy(origin);
    }
    List<String> known = all().stream().map(Template::name).toList();
    String what = "there is no template " + name + "; gpush templates lists them";
    Problem problem =
        SettingsFile.problem(
            heir.name(),
            new Flaw(found.source().at(), found.path(), what, Nearest.one(name, known)));
    return new SettingsFile(name, Place.PROJECT, List.of(), List.of(problem), "");
  }

  private static SettingsFile broken(SettingsFile heir, Found found, String what) {
    Problem problem =
        SettingsFile.problem(heir.name(), new Flaw(found.source().at(), found.path(), what));
    return new SettingsFile(heir.name(), Place.PROJECT, List.of(), List.of(problem), "");
  }

  private static byte[] shipped(String name) {
    return Resource.bytes(Templates.class, name + ".yaml");
  }

  private List<Path> ownFiles() {
    if (!Files.isDirectory(own)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(own)) {
      return files
          .filter(file -> FILE.matcher(String.valueOf(file.getFileName())).matches())
          .filter(Files::isRegularFile)
          .sorted()
          .limit(MOST_OWN)
          .toList();
    } catch (IOException denied) {
      var failure = new ConfigFailure.Unreadable(own.toString(), FileReason.of(denied));
      throw new GpushException(failure, denied);
    }
  }

  /** What a template is for: its first comment line. */
  private static String summary(String text) {
    String first = text.lines().findFirst().orElse("");
    return first.startsWith("#") ? first.substring(1).strip() : "";
  }
}
