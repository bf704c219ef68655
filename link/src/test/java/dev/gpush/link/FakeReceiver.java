package dev.gpush.link;

import dev.gpush.core.json.Json;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;

/** Consumes everything at once and tells when the stream was opened. */
record FakeReceiver(LinkStream stream, CountDownLatch opens) implements StreamReceiver {
  @Override
  public void opened(Json.Obj facts) {
    opens.countDown();
  }

  @Override
  public void data(int channel, ByteBuffer bytes) {
    stream.consumed(bytes.remaining());
  }

  @Override
  public void closed(Json.Obj reason) {}
}
