package dev.gpush.gateway.session.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.TracedTalk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class PendingRequestTest {
  @Test
  void whatIsCancelledBeforeItsThreadBeganIsUndoneByItsWork() {
    var talk = new SharedTalk(false);
    var request =
        new PendingRequest(new SessionName("devbox"), talk, new TracedTalk(talk, Clock.system()));
    var isUndone = new AtomicBoolean();
    request.cancel();

    try (Tasks tasks = Tasks.named("request", (_, failure) -> failure.printStackTrace())) {
      request.start(
          tasks,
          () -> {},
          _ -> {
            try {
              new CountDownLatch(1).await();
            } finally {
              isUndone.set(true);
            }
          });
      request.awaitEnd();
    }

    assertTrue(isUndone.get());
    var given =
        assertThrows(GpushException.class, () -> request.follow(Talk.silent(), () -> false));
    assertEquals(new SessionFailure.GivenUp("devbox"), given.failure());
  }
}
