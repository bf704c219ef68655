package dev.gpush.gateway.session.live;

import dev.gpush.core.file.WholeFile;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
  private static final String FILE = "agents.json";

  private final Path folder;
  private final IntPredicate isEmpty;
  private final Clock clock;

  // guarded by this
  private final TreeMap<Integer, String> agents = new TreeMap<>();
  private final TreeMap<Integer, Restart> restarts = new TreeMap<>();

  /** Nodes that were not asked since this gateway started. */
  private final Set<Integer> unseen;

  /**
   * @param folder of the session: keeps the agents, and what no user was told, for the next gateway
   * @param isEmpty whether a node lacks the files
   */
  RestartedAgents(Path folder, IntPredicate isEmpty, Clock clock) {
    this.folder = folder;
    this.isEmpty = isEmpty;
    this.clock = clock;
    read();
    this.unseen = new HashSet<>(agents.keySet());
  }

  /**
   * A node whose agent was replaced, once or more.
   *
   * @param when the last time; empty before this gateway saw it
   * @param loss the greatest
   * @param why in the backend's words; empty when it is not known
   */
  private record Restart(Optional<Instant> when, Loss loss, String why) {
    static Restart of(Json json) {
      return new Restart(
          json.number("when").map(Instant::ofEpochMilli),
          Loss.valueOf(json.text("loss").orElse("")),
          json.text("why").orElse(""));
    }

    Json json() {
      return Json.object("when", when.map(Instant::toEpochMilli), "loss", loss.name(), "why", why);
    }

    Restart since(Restart former) {
      return new Restart(when, loss.or(former.loss()), why);
    }

    Restart because(String reason) {
      return new Restart(when, loss, reason);
    }

    String words(int node, Instant now, boolean isEmpty) {
      String ago =
          when.map(then -> " " + DurationText.of(Duration.between(then, now)) + " ago")
              .orElse(" since gpush saw it last");
      String because = why.isEmpty() ? "" : ": " + why;
      String lost =
          switch (loss) {
            case TERMINALS ->
                "lost its terminals" + ago + " because its agent was killed; another agent goes on";
            case PROCESSES -> "restarted" + ago;
            case FILES -> "restarted with an empty disk" + ago;
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
    boolean isNew = !agent.equals(agents.put(node, agent));
    boolean isOther = !before.equals(agent);
    Optional<Instant> when = unseen.remove(node) ? Optional.empty() : Optional.of(clock.now());
    if (isOther) {
      var restart = new Restart(when, Loss.of(welcome), "");
      restarts.merge(node, restart, (former, latest) -> latest.since(former));
    }
    if (isNew) {
      makeFolder();
      write();
    }
    return isOther;
  }

  /** Adds the reason, which is found out later. */
  public synchronized void because(int node, String why) {
    restarts.computeIfPresent(node, (_, restart) -> restart.because(why));
    write();
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
      if (!known.isEmpty()) {
        write();
      }
    }
  }

  private void read() {
    try {
      Json kept = Json.parse(Files.readString(folder.resolve(FILE)));
      kept.object("agents")
          .entries()
          .forEach((node, agent) -> agents.put(Integer.valueOf(node), agent.asText().orElse("")));
      kept.object("restarts")
          .entries()
          .forEach((node, restart) -> restarts.put(Integer.valueOf(node), Restart.of(restart)));
    } catch (IOException | JsonSyntaxException | IllegalArgumentException none) {
      // There is none yet, or it is damaged: as for the first gateway.
    }
  }

  private void makeFolder() {
    try {
      WholeFile.makeFolder(folder);
    } catch (IOException impossible) {
      // Then nothing can be written, either.
    }
  }

  /**
   * Where it cannot be written, the next gateway notices no restart in between. The folder may have
   * gone with the session.
   */
  // holds this
  private void write() {
    var known = new TreeMap<String, String>();
    agents.forEach((node, agent) -> known.put(node.toString(), agent));
    var kept = new TreeMap<String, Json>();
    restarts.forEach((node, restart) -> kept.put(node.toString(), restart.json()));
    try {
      String text = Json.object("agents", known, "restarts", kept).write();
      WholeFile.write(folder.resolve(FILE), text, WholeFile.PRIVATE);
    } catch (IOException unwritten) {
      // As the method's comment says.
    }
  }
}
