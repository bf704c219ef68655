package dev.gpush.launch.node;

import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Facts about the chosen Python of one node.
 *
 * @param torch its version
 * @param cuda that torch was built for; absent where torch is built without CUDA
 * @param nccl the library that this torch loads, as far as its files say
 * @param packages {@code name-version}, sorted: what must be the same on all nodes
 * @param stamps files and folders whose change of time means that all this may have changed
 */
public record PythonFacts(
    Interpreter interpreter,
    Optional<String> torch,
    Optional<String> cuda,
    Optional<String> nccl,
    List<String> packages,
    Map<String, Long> stamps,
    Account account) {
  /** Two nodes may differ in everything; a failure names only this many. */
  private static final int NAMED = 3;

  /**
   * Which Python it is.
   *
   * @param prefix its environment's folder
   * @param isEnvironment prefix is an environment of its own (venv), not the interpreter's home
   */
  public record Interpreter(
      String executable, String version, String prefix, boolean isEnvironment) {}

  /**
   * The user's on the node.
   *
   * @param path the value of PATH there
   */
  public record Account(String home, String user, String path) {}

  public PythonFacts {
    packages = List.copyOf(packages);
    stamps = new TreeMap<>(stamps);
  }

  /** What probe.py printed, after whatever the environment's own start-up printed. */
  public static Optional<PythonFacts> parse(String output) {
    Json json = MarkedLine.of(output, "gpush-python").json();
    var stamps = new LinkedHashMap<String, Long>();
    Json.Obj found = json.object("stamps");
    found.fields().keySet().forEach(key -> stamps.put(key, found.number(key).orElse(0L)));
    return json.text("executable")
        .filter(executable -> !executable.isEmpty())
        .map(
            executable ->
                new PythonFacts(
                    new Interpreter(
                        executable,
                        json.text("version").orElse(""),
                        json.text("prefix").orElse(""),
                        json.flag("venv")),
                    json.text("torch"),
                    json.text("cuda"),
                    json.text("nccl"),
                    json.texts("packages"),
                    stamps,
                    new Account(
                        json.text("home").orElse(""),
                        json.text("user").orElse(""),
                        json.text("path").orElse(""))));
  }

  /** Whether this package is installed, by its name in small letters. */
  public boolean has(String name) {
    return packages.stream().anyMatch(each -> each.startsWith(name + "-"));
  }

  public String executable() {
    return interpreter.executable();
  }

  public String version() {
    return interpreter.version();
  }

  /**
   * The variables that activating its environment would set, so that programs that a rank starts
   * find it too.
   */
  public Map<String, String> activation() {
    if (!interpreter.isEnvironment()) {
      return Map.of();
    }
    String prefix = interpreter.prefix();
    String path = account.path();
    String bin = prefix + "/bin";
    boolean isFirst = path.equals(bin) || path.startsWith(bin + ":");
    return Map.of(
        "VIRTUAL_ENV", prefix, "PATH", isFirst || path.isEmpty() ? path : bin + ":" + path);
  }

  /** "~/envs/llm python 3.11 torch 2.8". */
  public String words() {
    String prefix = interpreter.prefix();
    String home = account.home();
    String where = interpreter.isEnvironment() || prefix.contains("conda") ? prefix : executable();
    String name =
        !home.isEmpty() && where.startsWith(home + "/")
            ? "~" + where.substring(home.length())
            : where;
    return name
        + " python "
        + minor(version())
        + torch.map(torchVersion -> " torch " + minor(torchVersion)).orElse("");
  }

  /** Shortens 2.8.0+cu128 to 2.8. */
  private static String minor(String version) {
    String[] parts = version.split("[.+]", -1);
    return parts.length >= 2 && parts[0].matches("[0-9]+") ? parts[0] + "." + parts[1] : version;
  }

  /**
   * How the other node's Python differs from this one: "lacks flash_attn-2.8", empty when it does
   * not.
   */
  public List<String> differences(PythonFacts other) {
    var found = new ArrayList<String>();
    if (!version().equals(other.version())) {
      found.add("has Python " + other.version() + ", not " + version());
    }
    var lacks = new TreeSet<>(packages);
    lacks.removeAll(other.packages);
    var more = new TreeSet<>(other.packages);
    more.removeAll(packages);
    name(found, "lacks ", lacks);
    name(found, "has ", more);
    return found;
  }

  private static void name(List<String> found, String verb, TreeSet<String> packages) {
    if (packages.isEmpty()) {
      return;
    }
    String names = String.join(", ", packages.stream().limit(NAMED).toList());
    int rest = packages.size() - NAMED;
    found.add(verb + names + (rest > 0 ? " and " + rest + " more" : ""));
  }
}
