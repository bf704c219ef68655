package dev.gpush.gateway.session.live;

import dev.gpush.core.backend.LinkedAgents;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The agents of one session, over those of its links that are up. */
public final class SessionAgents implements LinkedAgents {
  /** Between two checks whether a link that was asked is still up. */
  private static final Duration LOOK = Duration.ofMillis(500);

  private final LiveSession session;

  public SessionAgents(LiveSession session) {
    this.session = session;
  }

  private record Asked(Link link, CompletableFuture<Json> answer) {}

  @Override
  public Map<Integer, Json> ask(
      GangId gang, Collection<Integer> nodes, Json.Obj control, Duration limit)
      throws InterruptedException {
    if (!session.entry().gang().equals(gang)) {
      return Map.of();
    }
    Map<Integer, Asked> asked = asked(nodes, control);
    try {
      await(List.copyOf(asked.values()), limit);
      var said = new TreeMap<Integer, Json>();
      asked.forEach(
          (node, each) -> {
            if (each.answer().state() == CompletableFuture.State.SUCCESS) {
              said.put(node, each.answer().resultNow());
            }
          });
      return said;
    } finally {
      asked.values().forEach(each -> each.answer().cancel(true));
    }
  }

  /** Sends all questions before it waits for the first answer. */
  private Map<Integer, Asked> asked(Collection<Integer> nodes, Json.Obj control) {
    String method = control.text("do").orElse("");
    var asked = new TreeMap<Integer, Asked>();
    for (Link link : session.links()) {
      if (nodes.contains(link.node()) && isUp(link)) {
        try {
          asked.put(link.node(), new Asked(link, link.ask(method, control)));
        } catch (GpushException over) {
          // It is not asked over a link then.
        }
      }
    }
    return asked;
  }

  private static boolean isUp(Link link) {
    return link.state() instanceof LinkState.Up;
  }

  /** Does not wait for the answer of a link that is cut meanwhile: it may stay cut. */
  private static void await(List<Asked> asked, Duration limit) throws InterruptedException {
    var open = new CountDownLatch(asked.size());
    for (Asked each : asked) {
      var _ = each.answer().whenComplete((_, _) -> open.countDown());
    }
    Duration left = limit;
    while (left.isPositive() && !open.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
      asked.stream().filter(each -> !isUp(each.link())).forEach(each -> each.answer().cancel(true));
      left = left.minus(LOOK);
    }
  }
}
