package dev.gpush.shell.command.call;

import dev.gpush.core.config.Config.Unsupported;
import java.util.List;

/** Reports which keys of the configuration have no effect yet, before the work starts. */
public final class UnsupportedKeys {
  private UnsupportedKeys() {}

  public static void say(Call call) {
    List<String> keys =
        call.services().configs().load(call.folder()).unsupported().stream()
            .map(Unsupported::key)
            .distinct()
            .toList();
    if (!keys.isEmpty()) {
      call.say(
          "not supported yet, no effect: "
              + String.join(", ", keys)
              + "; gpush config says what happens instead");
    }
  }
}
