package dev.gpush.gateway.session.live;

import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntPredicate;

/**
 * The nodes whose agent was replaced, and why. Commands of the former agent are gone, but for runs
 * where only the agent was killed.
 *
 * <p>Two things end at different times. A node with an empty disk lacks the files until any push
 * has filled it, and saves do that within a moment. That a node restarted stays known until a
 * command has told the user. Thread-safe.
 */
public final class RestartedAgents {
  private final Clock clock;

  private final IntPredicate isEmpty;

  // guarded by this: agents, restarts
  private final TreeMap<Integer, String> agents = new TreeMap<>();
  private final TreeMap<Integer, Restart> restarts = new TreeMap<>();

  /**
   * @param isEmpty whether a node lacks the files
   */
  RestartedAgents(IntPredicate isEmpty, Clock clock) {
    this.isEmpty = isEmpty;
    this.clock = clock;
  }

  /**
   * A node whose agent was replaced, once or more.
   *
   * @param when the last time
   * @param loss the greatest
   * @param why in the backend's words; empty when it is not known
   */
  private record Restart(Instant when, Loss loss, String why) {
    Restart since(Restart former) {
      return new Restart(when, loss.or(former.loss()), why);
    }

    Restart because(String reason) {
      return new Restart(when, loss, reason);
    }

    String words(int node, Instant now, boolean isEmpty) {
      String ago = " " + DurationText.of(Duration.between(when, now)) + " ago";
      String because = why.isEmpty() ? "" : ": " + why;
      String lost =
          switch (loss) {
            case TERMINALS ->
                "lost its terminals" + ago + " because its agent was killed; another agent goes on";
            case PROCESSES -> "restarted" + ago;
            case FILES -> "restarted" + ago + " with an empty disk";
          };
      String remedy = isEmpty ? " (gpush sync sends the code again)" : "";
      return "node " + node + " " + lost + remedy + because;
    }
  }

  /** What went with the agent, each with all before it. */
  private enum Loss {
    TERMINALS,
    PROCESSES,
    FILES;

    static Loss of(Json welcome) {
      if (welcome.flag("bare")) {
        return FILES;
      }
      return welcome.flag("again") ? TERMINALS : PROCESSES;
    }

    Loss or(Loss other) {
      return compareTo(other) > 0 ? this : other;
    }
  }

  /**
   * Takes the WELCOME of a node's agent.
   *
   * @return whether the agent is another one than before
   */
  public synchronized boolean welcomed(int node, Json welcome) {
    String agent = welcome.text("agent").orElse("");
    String before = agents.getOrDefault(node, agent);
    agents.put(node, agent);
    boolean isOther = !before.equals(agent);
    if (isOther) {
      var restart = new Restart(clock.now(), Loss.of(welcome), "");
      restarts.merge(node, restart, (former, latest) -> latest.since(former));
    }
    return isOther;
  }

  /** Adds the reason, which is found out later. */
  public synchronized void because(int node, String why) {
    restarts.computeIfPresent(node, (_, restart) -> restart.because(why));
  }

  /** A sentence for each, without the end. */
  public List<String> words() {
    return words(restarts());
  }

  private synchronized Map<Integer, Restart> restarts() {
    return new TreeMap<>(restarts);
  }

  private List<String> words(Map<Integer, Restart> of) {
    Instant now = clock.now();
    return of.entrySet().stream()
        .map(each -> each.getValue().words(each.getKey(), now, isEmpty.test(each.getKey())))
        .toList();
  }

  /** Says all to a user, who need not hear of them again. */
  public void say(Talk talk) {
    Map<Integer, Restart> known = restarts();
    words(known).forEach(talk::say);
    synchronized (this) {
      // One that restarted again meanwhile is kept.
      known.forEach(restarts::remove);
    }
  }
}
