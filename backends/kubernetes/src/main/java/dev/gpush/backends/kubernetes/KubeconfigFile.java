package dev.gpush.backends.kubernetes;

import dev.gpush.core.file.FileReason;
import dev.gpush.templates.yaml.Yaml;
import dev.gpush.templates.yaml.YamlReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The contexts of a kubeconfig file. Read without the library of Kubernetes, which runs the login
 * program of a context when it reads the file.
 *
 * @param problem why it cannot be read; empty: it can
 */
record KubeconfigFile(List<KubeContext> contexts, Optional<String> problem) {
  /**
   * A context.
   *
   * @param login what stands between it and the cluster
   */
  record KubeContext(String name, boolean isCurrent, Login login) {}

  /** How a context logs in. */
  sealed interface Login {
    /** By a token or a certificate. */
    record Silent() implements Login {}

    /** By a program, which may ask the user. */
    record Program(String command) implements Login {}

    /** Its cluster or its user is not in this file. */
    record Elsewhere() implements Login {}
  }

  static KubeconfigFile read(Path path) {
    byte[] bytes;
    try (InputStream input = Files.newInputStream(path)) {
      bytes = input.readNBytes(YamlReader.MOST_BYTES + 1);
    } catch (IOException unreadable) {
      return new KubeconfigFile(List.of(), Optional.of(FileReason.of(unreadable)));
    }
    YamlReader.Reading reading = YamlReader.read(bytes);
    if (!reading.flaws().isEmpty()) {
      var flaw = reading.flaws().getFirst();
      return new KubeconfigFile(
          List.of(), Optional.of("line " + flaw.at().line() + ": " + flaw.what()));
    }
    var contexts = new ArrayList<KubeContext>();
    if (reading.content().isPresent()) {
      Yaml file = reading.content().get();
      Optional<String> current = file.text("current-context");
      for (Yaml item : file.items("contexts")) {
        Optional<String> name = item.text("name");
        if (name.isPresent()) {
          contexts.add(new KubeContext(name.get(), current.equals(name), login(file, item)));
        }
      }
    }
    return new KubeconfigFile(List.copyOf(contexts), Optional.empty());
  }

  private static Login login(Yaml file, Yaml item) {
    Optional<Yaml> context = item.get("context");
    Optional<Yaml> cluster = context.flatMap(it -> named(file, "clusters", it.text("cluster")));
    Optional<Yaml> user = context.flatMap(it -> named(file, "users", it.text("user")));
    if (cluster.isEmpty() || user.isEmpty()) {
      return new Login.Elsewhere();
    }
    Optional<Yaml> access = user.get().get("user");
    Optional<Yaml> program = access.flatMap(it -> it.get("exec"));
    if (program.isPresent()) {
      return new Login.Program(program.get().text("command").orElse(""));
    }
    return access
        .flatMap(it -> it.get("auth-provider"))
        .<Login>map(it -> new Login.Program(it.text("name").orElse("auth-provider")))
        .orElseGet(Login.Silent::new);
  }

  private static Optional<Yaml> named(Yaml file, String list, Optional<String> name) {
    return file.items(list).stream()
        .filter(item -> name.isPresent() && item.text("name").equals(name))
        .findFirst();
  }
}
