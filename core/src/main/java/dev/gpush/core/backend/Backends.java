package dev.gpush.core.backend;

import dev.gpush.core.config.Config;
import java.util.List;
import java.util.Optional;

/**
 * The backends that a configuration names. Made by app, the only module that knows the adapters.
 * Thread-safe.
 */
public interface Backends {
  /**
   * In the order they are asked; kinds that this version does not have were refused when the
   * configuration was read.
   */
  List<Backend> of(Config config);

  /**
   * A backend by name for a session that already exists, whatever the folder's configuration says
   * now.
   */
  Optional<Backend> named(String name);

  List<BackendView> views(Config config);
}
