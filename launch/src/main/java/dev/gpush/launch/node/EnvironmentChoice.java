package dev.gpush.launch.node;

import dev.gpush.core.config.Config;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a session's environment is made of, as the project and {@code up --python} say it.
 *
 * @param python a path, a name or a version; with {@code conda}, the word for that environment's
 * @param conda the name or path of an environment that is activated
 * @param modules that are loaded, in this order
 * @param file that bash reads
 * @param variables of {@code env:}
 * @param steps that install things
 * @param data that the configuration names
 */
public record EnvironmentChoice(
    Optional<String> python,
    Optional<String> conda,
    List<String> modules,
    Optional<String> file,
    Map<String, String> variables,
    List<SetupStep> steps,
    List<DataFolder> data) {
  private static final String ACTIVE_CONDA = "@conda";

  /** As a value of {@code python}: the environment that uv makes of this file. */
  private static final String UV_LOCK = "uv.lock";

  private static final String UV_ENVIRONMENT = "./.venv";
  private static final SetupStep UV_SYNC =
      new SetupStep("uv", "uv sync --frozen", List.of(UV_LOCK, "pyproject.toml"));

  public EnvironmentChoice {
    modules = List.copyOf(modules);
    variables = Map.copyOf(variables);
    steps = List.copyOf(steps);
    data = List.copyOf(data);
  }

  /**
   * What the project says, unless the session was made with another Python.
   *
   * @param asked {@code up --python}: instead of the project's interpreter or conda environment;
   *     its modules and its file stay, because they are more than a Python
   */
  public static EnvironmentChoice of(Config config, Optional<String> asked) {
    Optional<String> named =
        asked
            .or(() -> config.text("python"))
            .or(() -> config.text("python.venv").map(EnvironmentChoice::folder));
    Optional<String> conda =
        named.isPresent()
            ? Optional.empty()
            : config.text("python.conda").filter(EnvironmentChoice::is);
    boolean isOfUv = named.filter(UV_LOCK::equals).isPresent();
    var steps = new ArrayList<SetupStep>();
    if (isOfUv) {
      steps.add(UV_SYNC);
    }
    config
        .text("setup.run")
        .filter(EnvironmentChoice::is)
        .ifPresent(run -> steps.add(new SetupStep("setup", run, texts(config, "setup.when"))));
    return new EnvironmentChoice(
        isOfUv ? Optional.of(UV_ENVIRONMENT) : named.or(() -> conda.map(_ -> ACTIVE_CONDA)),
        conda,
        texts(config, "python.modules"),
        config.text("python.file").filter(EnvironmentChoice::is),
        config.value("env").map(Json::textMap).orElse(Map.of()),
        steps,
        List.of());
  }

  public EnvironmentChoice with(List<DataFolder> folders) {
    return new EnvironmentChoice(python, conda, modules, file, variables, steps, folders);
  }

  /** A folder needs no slash where nothing else is meant. */
  private static String folder(String venv) {
    return venv.contains("/") || venv.startsWith("~") ? venv : "./" + venv;
  }

  private static boolean is(String text) {
    return !text.isEmpty();
  }

  /** One text, or a list. */
  private static List<String> texts(Config config, String key) {
    Optional<String> one = config.text(key).filter(EnvironmentChoice::is);
    return one.map(List::of).orElseGet(() -> Json.object("v", config.value(key)).texts("v"));
  }

  /** "conda llm, modules cuda/12.4": what needs a shell; "nothing" where nothing does. */
  String activated() {
    var parts = new ArrayList<String>();
    conda.ifPresent(name -> parts.add("conda " + name));
    if (!modules.isEmpty()) {
      parts.add("modules " + String.join(" ", modules));
    }
    file.ifPresent(parts::add);
    return parts.isEmpty() ? "nothing" : String.join(", ", parts);
  }

  /** Whether nodes need only to know it: no shell, setup or folder may fail. */
  boolean isPlain() {
    return conda.isEmpty()
        && modules.isEmpty()
        && file.isEmpty()
        && steps.isEmpty()
        && data.isEmpty();
  }

  /** As the agent takes it. */
  Json.Obj json(List<String> candidates) {
    return Json.object(
        "candidates",
        candidates,
        "conda",
        conda,
        "modules",
        modules,
        "file",
        file,
        "env",
        variables,
        "data",
        Json.array(data.stream().map(DataFolder::json).toList()));
  }
}
