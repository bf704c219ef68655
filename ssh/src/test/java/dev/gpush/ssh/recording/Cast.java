package dev.gpush.ssh.recording;

import dev.gpush.core.json.Json;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;

/** A file of asciicast, read as its format says, and not with the code that wrote it. */
public record Cast(Json.Obj header, List<Event> events) {
  /** One line. */
  public record Event(double time, String code, String data) {}

  public static Cast parse(List<String> lines) {
    return new Cast(
        (Json.Obj) Json.parse(lines.getFirst()), lines.stream().skip(1).map(Cast::event).toList());
  }

  private static Event event(String line) {
    List<Json> items = ((Json.Arr) Json.parse(line)).items();
    double time = Double.parseDouble(items.get(0).write());
    return new Event(time, ((Json.Text) items.get(1)).value(), ((Json.Text) items.get(2)).value());
  }

  /** The bytes of the terminal. */
  public byte[] bytes() {
    var out = new ByteArrayOutputStream();
    boolean isKnown = false;
    for (Event event : events) {
      if (event.code().equals("b")) {
        out.writeBytes(Base64.getDecoder().decode(event.data()));
        isKnown = true;
      } else if (event.code().equals("o")) {
        out.writeBytes(isKnown ? new byte[0] : event.data().getBytes(StandardCharsets.UTF_8));
        isKnown = false;
      }
    }
    return out.toByteArray();
  }

  public List<String> marks() {
    return events.stream().filter(each -> each.code().equals("m")).map(Event::data).toList();
  }
}
