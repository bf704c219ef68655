package dev.gpush.backends.local;

import dev.gpush.core.backend.Pipe;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Who holds which GPU of this host. Asked by a small Python, because the JDK's file locks are POSIX record locks and do not see flock.
 * The answer is a snapshot: taking is what decides, and the agents take.
 */
final class HostLocks {
  private static final int MAX_ANSWER = 256 * 1024;

  private final LocalHost host;
  private final Path folder;

  HostLocks(LocalHost host, Path folder) {
    this.host = host;
    this.folder = folder;
  }

  Path file(Gpu gpu) {
    return folder.resolve("gpu-" + gpu.identity());
  }

  /** Holder by GPU identity; a free GPU is not in the map. */
  Map<String, String> holders(List<Gpu> gpus, Map<String, String> environment) {
    var arguments = new ArrayList<>(List.of(LocalBackend.INTERPRETERS.getFirst(), "-I", "-S", "-c", script()));
    gpus.forEach(gpu -> arguments.add(file(gpu).toString()));
    Map<String, String> byFile = ask(arguments, environment);
    var holders = new java.util.LinkedHashMap<String, String>();
    for (Gpu gpu : gpus) {
      String holder = byFile.get(file(gpu).toString());
      if (holder != null) {
        holders.put(gpu.identity(), holder);
      }
    }
    return holders;
  }

  private Map<String, String> ask(List<String> arguments, Map<String, String> environment) {
    for (String python : LocalBackend.INTERPRETERS) {
      arguments.set(0, python);
      try (Pipe pipe = host.spawn(arguments, environment)) {
        pipe.input().close();
        byte[] answer = pipe.output().readNBytes(MAX_ANSWER);
        if (pipe.await() == 0) {
          return Json.parse(new String(answer, StandardCharsets.UTF_8)).textMap();
        }
      } catch (IOException | JsonSyntaxException nextPython) {
        continue;
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
        break;
      }
    }
    throw new GpushException(
        new BackendFailure.Unavailable("local", "no Python could read the GPU locks in " + folder, "install python3"));
  }

  private static String script() {
    try (InputStream source = HostLocks.class.getResourceAsStream("locks.py")) {
      if (source == null) {
        throw new IllegalStateException("locks.py is not in the jar");
      }
      return new String(source.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new IllegalStateException(unreadable);
    }
  }
}
