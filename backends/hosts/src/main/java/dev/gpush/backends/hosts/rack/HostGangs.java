package dev.gpush.backends.hosts.rack;

import dev.gpush.backends.hosts.rack.HostAgents.Listed;
import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Gangs as their agents tell of them. */
public final class HostGangs {
  /** An agent whose gang has another kind of name was not started by gpush. */
  private static final String GANG_ID = "[0-9a-f]{16}";

  private final Rack rack;
  private final HostAgents agents;

  public HostGangs(Rack rack, HostAgents agents) {
    this.rack = rack;
    this.agents = agents;
  }

  /** Whether a gang exists. */
  public Observation observe(Gang gang) {
    return Unanswered.observation(() -> gang.nodes().isEmpty() ? search(gang) : look(gang));
  }

  private Observation look(Gang gang) throws InterruptedException {
    return AgentAnswer.observation(
        agents.ask(gang, Json.object("do", "status")), gang.nodes(), "no agent");
  }

  /** Of a gang whose nodes are not known, such as one of a lost reply. */
  private Observation search(Gang gang) throws InterruptedException {
    List<Listed> lists = agents.listed(rack.hosts());
    if (lists.stream().anyMatch(each -> !each.of(gang.id()).isEmpty())) {
      return new Observation.Exists();
    }
    return lists.stream()
        .flatMap(each -> each.silent().stream())
        .findFirst()
        .<Observation>map(silent -> new Observation.CannotTell(FailureWords.of(silent)))
        .orElseGet(() -> new Observation.Gone("no agent of this gang"));
  }

  /** Renews the nodes that are there; fails when none is. */
  public void renew(Gang gang, LeaseTerms terms) {
    answer(
        () -> {
          Map<Integer, AgentAnswer> answers = agents.ask(gang, terms.json().with("do", "renew"));
          if (AgentAnswer.withoutAgent(answers).size() == answers.size()) {
            throw new GpushException(new AgentFailure.NotThere(gang.id().text(), 0));
          }
          AgentAnswer.requireRenewed(answers);
          return true;
        });
  }

  /**
   * The gangs of an owner on the hosts that answer: one that is off holds nothing, and one that is
   * cut off for long too. Fails when none answers.
   */
  public List<Discovered> discover(String owner) {
    return discovered(owner, answer(this::list));
  }

  private List<Json> list() throws InterruptedException {
    List<Listed> lists = agents.listed(rack.hosts());
    if (lists.stream().allMatch(each -> each.silent().isPresent())) {
      throw lists.getFirst().silent().orElseThrow();
    }
    return lists.stream().flatMap(each -> each.statuses().stream()).toList();
  }

  private List<Discovered> discovered(String owner, List<Json> statuses) {
    var gangs = new LinkedHashMap<GangId, TreeMap<Integer, Json>>();
    for (Json status : statuses) {
      String gang = status.text("gang").orElse("");
      if (status.text("owner").orElse("").equals(owner) && gang.matches(GANG_ID)) {
        gangs
            .computeIfAbsent(new GangId(gang), _ -> new TreeMap<>())
            .put(HostAgents.info(status).index(), status);
      }
    }
    var found = new ArrayList<Discovered>();
    gangs.forEach((gang, nodes) -> found.add(discovered(gang, List.copyOf(nodes.values()))));
    return found;
  }

  private Discovered discovered(GangId gang, List<Json> nodes) {
    Json first = nodes.getFirst();
    return new Discovered(
        new Gang(gang, rack.name(), nodes.stream().map(HostAgents::info).toList(), ""),
        first.text("name").orElse(""),
        first.text("owner").orElse(""),
        first.text("holder").orElse(""),
        first.object("request").number("nodes").orElse(-1L) == nodes.size());
  }

  /** What came of asking, also for a thread that was interrupted. */
  public <T> T answer(Unanswered.Question<T> question) {
    return Unanswered.answer(rack.name(), "gpush backends", question);
  }

  /** Why a request that does not fit now gets nothing: these backends have no queue. */
  public static GpushException refusal(String backend, Plan plan) {
    return new GpushException(
        switch (plan) {
          case Plan.Never(var reason, var works) ->
              new BackendFailure.NeverFits(backend, reason, works);
          case Plan.Later(var reason, _, var holders) ->
              new BackendFailure.Taken(backend, reason, holders);
          case Plan.Now(var what) -> new BackendFailure.Taken(backend, what, List.of());
        });
  }
}
