package dev.gpush.control.wire;

/** Why a connection is turned away, in the three parts that users see. */
public record Refusal(String what, String because, String attempt) {
  public ControlFrame frame() {
    return new Payload().text(what).text(because).text(attempt).frame(Kind.REFUSED);
  }

  public static Refusal of(ControlFrame frame) throws ControlProtocolException {
    Fields fields = frame.fields();
    return new Refusal(fields.text(), fields.text(), fields.text());
  }
}
