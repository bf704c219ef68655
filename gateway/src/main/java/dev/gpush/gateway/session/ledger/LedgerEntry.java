package dev.gpush.gateway.session.ledger;

import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.GangId;
import dev.gpush.core.backend.GpuRequest;
import dev.gpush.core.backend.LeaseTerms;
import dev.gpush.core.backend.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What the ledger knows of one session: enough to find, adopt or clean its gang after this process
 * is gone.
 *
 * @param id twelve hex digits, never used again; also the name of the workspace folder
 * @param gang the id that was, or will be, asked for: written before the backend hears of it
 * @param grant empty until the backend has granted
 * @param detail why it is in this state, in words; empty when all is well
 * @param holder which home keeps it: says HELLO to the agents as it stands here
 * @param host its machine's name when it was made, for people
 * @param boot of its machine when it was made
 * @param term ours towards the agents: of two gateways the one with the higher term has the gang
 * @param natives options for Slurm that the request came with
 * @param others further backends that were asked for the same, or may still hold something of it
 * @param inherit the variables that the session took over from its first client
 * @param foreign its files were sent from elsewhere: what is here must not replace them unasked
 * @param attach what its nodes were borrowed from; empty: they are its own
 */
public record LedgerEntry(
    String id,
    SessionName name,
    GangId gang,
    SessionState state,
    String detail,
    String backend,
    int nodes,
    GpuRequest gpus,
    Optional<Duration> hardEnd,
    Duration idle,
    Optional<String> python,
    Path root,
    String owner,
    Holder holder,
    String host,
    String boot,
    Instant created,
    long term,
    Map<String, String> inherit,
    List<String> natives,
    Optional<Gang> grant,
    List<Bid> others,
    boolean foreign,
    Optional<String> attach) {
  public static final long FIRST_TERM = 1;

  public LedgerEntry {
    if (!id.matches("[0-9a-f]{12}")) {
      throw new IllegalArgumentException("an id is twelve hex digits, not " + id);
    }
    if (nodes < 1) {
      throw new IllegalArgumentException("a session has nodes, not " + nodes);
    }
    if (grant.isPresent() && !grant.get().id().equals(gang)) {
      throw new IllegalArgumentException("granted " + grant.get().id() + " for " + gang);
    }
    inherit = Map.copyOf(inherit);
    natives = List.copyOf(natives);
    others = List.copyOf(others);
    if (grant.isPresent() && others.stream().anyMatch(Bid::isWanted)) {
      throw new IllegalArgumentException("granted, and others are wanted");
    }
  }

  public LedgerEntry in(SessionState next, String why) {
    return copy(name, first(), next, why, lease(), term, inherit, grant, others, foreign);
  }

  /** Under another name, because a session of today has this one. */
  public LedgerEntry named(SessionName other) {
    return copy(other, first(), state, detail, lease(), term, inherit, grant, others, foreign);
  }

  /** Kept by this holder from now on, who takes the gang over from a lower term. */
  public LedgerEntry keptBy(Holder other, long higher) {
    return new LedgerEntry(
        id, name, gang, state, detail, backend, nodes, gpus, hardEnd, idle, python, root, owner,
        other, host, boot, created, higher, inherit, natives, grant, others, foreign, attach);
  }

  public LedgerEntry granted(Gang granted) {
    List<Bid> losers = others.stream().map(Bid::unwanted).toList();
    return copy(
        name,
        first(),
        SessionState.GRANTED,
        "",
        lease(),
        term,
        inherit,
        Optional.of(granted),
        losers,
        foreign);
  }

  /** What is asked for first, and of whom; empty grant. */
  Bid first() {
    return new Bid(backend, gang, true);
  }

  /** All who are asked for a gang that nobody has granted yet. */
  public List<Bid> wanted() {
    var wanted = new ArrayList<Bid>();
    if (grant.isEmpty()) {
      wanted.add(first());
    }
    others.stream().filter(Bid::isWanted).forEach(wanted::add);
    return wanted;
  }

  /** Where it is, or where it waits. */
  public List<String> places() {
    return grant.isPresent() ? List.of(backend) : wanted().stream().map(Bid::backend).toList();
  }

  /** Asks these, and nobody else; whoever was asked before is to be given back. */
  public LedgerEntry asking(List<Bid> bids, Map<String, String> inherits) {
    var rest = new ArrayList<>(bids.subList(1, bids.size()));
    var before = new ArrayList<Bid>(others);
    before.add(first());
    before.stream()
        .filter(bid -> bids.stream().noneMatch(each -> each.gang().equals(bid.gang())))
        .map(Bid::unwanted)
        .forEach(rest::add);
    return with(bids.getFirst(), rest, inherits);
  }

  /** One of several that were asked has failed; it may still hold something. */
  public LedgerEntry givenUp(Bid bid) {
    if (!bid.gang().equals(gang)) {
      return replaced(bid, List.of(bid.unwanted()));
    }
    List<Bid> left = others.stream().filter(Bid::isWanted).toList();
    return left.isEmpty() ? this : asking(left, inherit);
  }

  /** Nothing is held there any more. */
  public LedgerEntry without(Bid bid) {
    return replaced(bid, List.of());
  }

  /** As if only this one were asked. */
  public LedgerEntry with(Bid bid) {
    return with(bid, List.of(), inherit);
  }

  private LedgerEntry replaced(Bid bid, List<Bid> by) {
    var rest = new ArrayList<Bid>();
    for (Bid other : others) {
      rest.addAll(other.gang().equals(bid.gang()) ? by : List.of(other));
    }
    return with(first(), rest, inherit);
  }

  /** This one of those that were asked has the gang. */
  public LedgerEntry won(Bid bid, Gang granted) {
    if (bid.gang().equals(gang)) {
      return granted(granted);
    }
    var rest = new ArrayList<>(others.stream().filter(each -> !each.equals(bid)).toList());
    rest.add(first());
    return with(bid, rest, inherit).granted(granted);
  }

  /** Whose runs take another Python from now on. */
  public LedgerEntry withPython(String other) {
    return new LedgerEntry(
        id,
        name,
        gang,
        state,
        detail,
        backend,
        nodes,
        gpus,
        hardEnd,
        idle,
        Optional.of(other),
        root,
        owner,
        holder,
        host,
        boot,
        created,
        term,
        inherit,
        natives,
        grant,
        others,
        foreign,
        attach);
  }

  private LedgerEntry with(Bid first, List<Bid> rest, Map<String, String> inherits) {
    return copy(name, first, state, detail, lease(), term, inherits, grant, rest, foreign);
  }

  public LedgerEntry leased(LeaseTerms lease) {
    return copy(name, first(), state, detail, lease, term, inherit, grant, others, foreign);
  }

  /** One of its nodes is another machine now. */
  public LedgerEntry with(NodeInfo node) {
    Optional<Gang> moved = grant.map(gang -> gang.with(node));
    return copy(name, first(), state, detail, lease(), term, inherit, moved, others, foreign);
  }

  /** Whether its files were sent from elsewhere. */
  public LedgerEntry foreign(boolean isForeign) {
    return copy(name, first(), state, detail, lease(), term, inherit, grant, others, isForeign);
  }

  private LeaseTerms lease() {
    return new LeaseTerms(hardEnd, idle);
  }

  /** All that ever changes; the rest was so when the session was made. */
  private LedgerEntry copy(
      SessionName newName,
      Bid newFirst,
      SessionState newState,
      String newDetail,
      LeaseTerms newLease,
      long newTerm,
      Map<String, String> newInherit,
      Optional<Gang> newGrant,
      List<Bid> newOthers,
      boolean newForeign) {
    return new LedgerEntry(
        id,
        newName,
        newFirst.gang(),
        newState,
        newDetail,
        newFirst.backend(),
        nodes,
        gpus,
        newLease.hardEnd(),
        newLease.idle(),
        python,
        root,
        owner,
        holder,
        host,
        boot,
        created,
        newTerm,
        newInherit,
        natives,
        newGrant,
        newOthers,
        newForeign,
        attach);
  }

  public Json.Obj json() {
    return Json.object(
        "id", id,
        "name", name.text(),
        "gang", gang.text(),
        "state", state.word(),
        "detail", detail,
        "backend", backend,
        "nodes", nodes,
        "gpus", gpus.toString(),
        "hard_end_s", hardEnd.map(Duration::toSeconds),
        "idle_s", idle.toSeconds(),
        "python", python,
        "root", root.toString(),
        "owner", owner,
        "holder", holder.text(),
        "host", host,
        "boot", boot,
        "created", created.toString(),
        "term", term,
        "inherit", inherit,
        "natives", natives,
        "grant", grant.map(Gang::json),
        "others", others.stream().map(Bid::json).toList(),
        "foreign", foreign,
        "attach", attach);
  }

  /**
   * Reads what {@link #json} wrote, also by earlier releases.
   *
   * @throws IllegalArgumentException when a field is missing or wrong; the ledger puts such a file
   *     aside
   */
  public static LedgerEntry from(Json json) {
    String gpus = need(json, "gpus");
    return new LedgerEntry(
        need(json, "id"),
        new SessionName(need(json, "name")),
        new GangId(need(json, "gang")),
        SessionState.valueOf(need(json, "state").toUpperCase(java.util.Locale.ROOT)),
        json.text("detail").orElse(""),
        need(json, "backend"),
        Math.toIntExact(json.number("nodes").orElse(1L)),
        gpus.equals("cpu") ? GpuRequest.none() : GpuRequest.parse(gpus),
        json.number("hard_end_s").map(Duration::ofSeconds),
        Duration.ofSeconds(json.number("idle_s").orElse(3600L)),
        json.text("python"),
        Path.of(need(json, "root")),
        json.text("owner").orElse(""),
        new Holder(json.text("holder").orElse("")),
        json.text("host").orElse(""),
        json.text("boot").orElse(""),
        Instant.parse(need(json, "created")),
        json.number("term").orElse(FIRST_TERM),
        json.object("inherit").textMap(),
        json.texts("natives"),
        json.get("grant").map(Gang::from),
        json.items("others").stream().map(Bid::from).toList(),
        json.flag("foreign"),
        json.text("attach"));
  }

  private static String need(Json json, String key) {
    return json.text(key).orElseThrow(() -> new IllegalArgumentException("no " + key));
  }
}
