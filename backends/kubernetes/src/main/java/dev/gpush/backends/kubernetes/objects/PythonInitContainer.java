package dev.gpush.backends.kubernetes.objects;

import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Resource;
import java.util.List;
import java.util.Map;

/**
 * A Python for pods whose image has none: an init container copies it from another image, with its
 * libraries and their loader. That loader starts it, so the pod's own libc does not matter, nor
 * whether the image has a shell.
 */
public final class PythonInitContainer {
  static final String CONTAINER = "gpush-python";

  private static final String VOLUME = CONTAINER;
  private static final String FOLDER = "/run/gpush-python";

  private static final List<String> WORDS =
      List.of(
          AgentProgram.ONE,
          FOLDER + "/ld",
          "--library-path",
          FOLDER + "/so",
          FOLDER + "/bin/python3");

  private PythonInitContainer() {}

  /** The command of the agent's Python in such pods. */
  public static List<String> interpreters(boolean isBrought) {
    return isBrought ? WORDS : AgentProgram.INTERPRETERS;
  }

  /** The interpreters for this pod, from its own specification. */
  public static List<String> interpreters(Json pod) {
    return interpreters(
        pod.object("spec").items("initContainers").stream()
            .anyMatch(each -> each.text("name").orElse("").equals(CONTAINER)));
  }

  /** Runs once before the container of the agent. */
  static Json.Obj container(String image) {
    return Json.object(
        "name",
        CONTAINER,
        "image",
        image,
        "command",
        List.of(
            "python3", "-I", "-c", Resource.text(PythonInitContainer.class, "python.py"), FOLDER),
        "resources",
        Json.object("requests", Map.of("cpu", "100m", "memory", "128Mi")),
        "volumeMounts",
        List.of(Json.object("name", VOLUME, "mountPath", FOLDER)));
  }

  static Json.Obj volume() {
    return Json.object("name", VOLUME, "emptyDir", Json.object());
  }

  static Json.Obj mount() {
    return Json.object("name", VOLUME, "mountPath", FOLDER, "readOnly", true);
  }
}
