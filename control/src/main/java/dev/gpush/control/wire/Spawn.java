package dev.gpush.control.wire;

import java.util.List;
import java.util.Map;

/**
 * A program for the client to run on its own streams and in its own folder, and what to add to its
 * own environment.
 */
public record Spawn(List<String> command, Map<String, String> environment) {
  public Spawn {
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    if (command.isEmpty()) {
      throw new IllegalArgumentException("a command has at least one word");
    }
  }

  public ControlFrame frame() {
    return new Payload().texts(command).map(environment).frame(Kind.SPAWN);
  }

  public static Spawn of(ControlFrame frame) throws ControlProtocolException {
    Fields fields = frame.fields();
    List<String> command = fields.texts();
    Map<String, String> environment = fields.map();
    fields.end();
    if (command.isEmpty()) {
      throw new ControlProtocolException("SPAWN without a command");
    }
    return new Spawn(command, environment);
  }
}
