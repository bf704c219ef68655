package dev.gpush.backends.local;

import dev.gpush.backends.hosts.AgentCalls;
import dev.gpush.backends.local.Question.Answer;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.text.CleanText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Who holds which GPU of this host. Asked by a small Python, because the JDK's file locks are POSIX
 * record locks and do not see flock. The answer is a snapshot: taking is what decides, and the
 * agents take.
 */
final class HostLocks {
  private static final int MOST_LABEL = 120;

  private final Question question;
  private final Path folder;

  HostLocks(Question question, Path folder) {
    this.question = question;
    this.folder = folder;
  }

  /** Who holds a GPU: {@code gang} is empty when the lock does not say. */
  record Holder(String gang, String words) {}

  Path file(Gpu gpu) {
    return folder.resolve("gpu-" + gpu.identity());
  }

  /** By GPU identity; a free GPU is not in the map. */
  Map<String, Holder> holders(List<Gpu> gpus, Map<String, String> environment)
      throws InterruptedException {
    var command = new ArrayList<>(List.of("", "-I", "-S", "-c", script()));
    gpus.forEach(gpu -> command.add(file(gpu).toString()));
    Json byFile = ask(command, environment);
    var holders = new LinkedHashMap<String, Holder>();
    for (Gpu gpu : gpus) {
      byFile.get(file(gpu).toString()).ifPresent(said -> holders.put(gpu.identity(), holder(said)));
    }
    return holders;
  }

  private Json ask(List<String> command, Map<String, String> environment)
      throws InterruptedException {
    String problem = "no Python is installed";
    for (String python : AgentCalls.INTERPRETERS) {
      command.set(0, python);
      switch (question.ask(command, environment)) {
        case Answer.NotInstalled _ -> {}
        case Answer.Failed(var reason) -> problem = python + ": " + reason;
        case Answer.Output(var text) -> {
          try {
            return Json.parse(text);
          } catch (JsonSyntaxException noise) {
            problem = python + " did not answer with JSON";
          }
        }
      }
    }
    String reason = "the GPU locks in " + folder + " cannot be read: " + problem;
    throw new GpushException(new BackendFailure.Unavailable("local", reason, "install python3"));
  }

  /** What the agent of another user wrote: it may be anything. */
  private static Holder holder(Json said) {
    Json label;
    try {
      label = Json.parse(said.asText().orElse(""));
    } catch (JsonSyntaxException notOurs) {
      return new Holder("", "somebody");
    }
    String name = clean(label.text("name").orElse(""));
    String owner = clean(label.text("owner").orElse(""));
    String words = name.isEmpty() ? "somebody" : name + (owner.isEmpty() ? "" : " of " + owner);
    return new Holder(label.text("gang").orElse(""), words);
  }

  private static String clean(String text) {
    return CleanText.line(text, MOST_LABEL);
  }

  private static String script() {
    try (InputStream source = HostLocks.class.getResourceAsStream("locks.py")) {
      if (source == null) {
        throw new IllegalStateException("locks.py is not in the jar");
      }
      return new String(source.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
