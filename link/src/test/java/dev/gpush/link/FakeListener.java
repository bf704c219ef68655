package dev.gpush.link;

import dev.gpush.core.json.Json;
import java.nio.ByteBuffer;
import java.util.Optional;

/** Takes every connection and lends it to blocking code. */
record FakeListener(Recorder<Json.Obj> opens, Recorder<BlockingStream> streams)
    implements StreamReceiver {
  @Override
  public void opened(Json.Obj facts) {
    opens.add(facts);
  }

  @Override
  public void data(int channel, ByteBuffer bytes) {
    throw new AssertionError("data on a listener");
  }

  @Override
  public Optional<StreamReceiver> accepted(LinkStream stream, Json.Obj request) {
    var blocking = new BlockingStream(0, "accepted");
    blocking.attach(stream);
    streams.add(blocking);
    return Optional.of(blocking.receiver());
  }

  @Override
  public void closed(Json.Obj reason) {}
}
