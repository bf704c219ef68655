package dev.gpush.link;

import dev.gpush.core.json.Json;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * Puts the answer to a call into a future.
 *
 * @param what for failures
 */
record CallReceiver(int node, String what, CompletableFuture<Json> answer)
    implements StreamReceiver {
  @Override
  public void data(int channel, ByteBuffer bytes) {
    // Calls have no data; the peer can send no more than the credit.
  }

  @Override
  public void message(Json.Obj message) {
    answer.complete(message.entries().getOrDefault("result", new Json.Null()));
  }

  @Override
  public void closed(Json.Obj reason) {
    answer.completeExceptionally(BlockingStream.failure(node, what, reason));
  }
}
