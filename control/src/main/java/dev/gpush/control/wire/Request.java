package dev.gpush.control.wire;

import java.util.List;
import java.util.Map;

/**
 * One command as it was typed: its words, and where, with which environment and on what terminal.
 *
 * @param pid the client's. Nobody reads it; it goes when the protocol changes for another reason,
 *     because a new number makes users stop a gateway that is in use.
 */
public record Request(
    List<String> arguments, String folder, Map<String, String> environment, Facts facts, long pid) {
  /**
   * Linux takes 2 MiB of arguments and environment together by default; twice that is surely a
   * mistake. The client says so before it sends anything.
   */
  public static final int MAX_BYTES = 4 * 1024 * 1024;

  public Request {
    arguments = List.copyOf(arguments);
    environment = Map.copyOf(environment);
  }

  /**
   * The request on the wire; {@link IllegalArgumentException} when it is longer than {@link
   * #MAX_BYTES}.
   */
  public ControlFrame frame() {
    Payload payload = new Payload().texts(arguments).text(folder).map(environment);
    return facts.write(payload).longNumber(pid).frame(Kind.REQUEST);
  }

  public static Request of(ControlFrame frame) throws ControlProtocolException {
    if (frame.kind() != Kind.REQUEST) {
      throw new ControlProtocolException("expected REQUEST, not " + frame);
    }
    Fields fields = frame.fields();
    var request =
        new Request(
            fields.texts(), fields.text(), fields.map(), Facts.read(fields), fields.longNumber());
    fields.end();
    return request;
  }
}
