package dev.gpush.gateway.session.ledger;

import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.talk.Trace;
import dev.gpush.core.text.Worded;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One session in the ledger: enough to find, adopt or release its gang after this process has
 * ended. On disk all its parts are one flat object.
 */
public record LedgerEntry(
    Identity identity,
    Keeper keeper,
    Asked asked,
    Lease lease,
    Reservation reservation,
    Status status) {
  public static final long FIRST_TERM = 1;

  /**
   * Which session it is.
   *
   * @param id twelve hex digits, never used again; also the name of the workspace folder
   */
  public record Identity(String id, SessionName name, Path root, Instant created) {
    public Identity {
      if (!id.matches("[0-9a-f]{12}")) {
        throw new IllegalArgumentException("an id is twelve hex digits, not " + id);
      }
    }
  }

  /**
   * Who holds it.
   *
   * @param holder the home that holds it, as it was sent to the agents
   * @param term compared by the agents: of two gateways, the one with the higher term has the gang
   */
  public record Keeper(String owner, Holder holder, long term) {}

  /**
   * What its first client asked for.
   *
   * @param natives the request's options for Slurm
   * @param attach the name of the borrowed pods; empty: the nodes are its own
   */
  public record Asked(
      int nodes,
      GpuRequest gpus,
      Optional<String> python,
      List<String> natives,
      Optional<String> attach) {
    public Asked {
      if (nodes < 1) {
        throw new IllegalArgumentException("a session has nodes, not " + nodes);
      }
      natives = List.copyOf(natives);
    }
  }

  /** When it ends by itself. */
  public record Lease(Optional<Duration> hardEnd, Duration idle, IdleRule rule) {
    /** With an idle time that stays. */
    public Lease(Optional<Duration> hardEnd, Duration idle) {
      this(hardEnd, idle, IdleRule.CHOSEN);
    }

    /** A gang that waits in a queue gets another idle time, unless the user has chosen one. */
    private Lease queued() {
      return rule == IdleRule.BUILT_IN ? new Lease(hardEnd, idle, IdleRule.AFTER_QUEUE) : this;
    }
  }

  /** Where the idle time comes from. */
  public enum IdleRule implements Worded {
    /** From the user: an option or a configuration file; or it was set after the queue. */
    CHOSEN,
    /** Nobody has chosen it. */
    BUILT_IN,
    /** Nobody has chosen it, and the request has been in a queue. */
    AFTER_QUEUE
  }

  /**
   * Its state.
   *
   * @param detail why it is in this state, in words; empty when all is well
   * @param foreign its files were sent from elsewhere: the local files must not replace them
   *     without a question
   * @param trace of its start, once that is over
   */
  public record Status(SessionState state, String detail, boolean foreign, Trace trace) {
    /** No backend was asked yet. */
    public static Status begun() {
      return new Status(SessionState.ASKED, "", false, Trace.none());
    }
  }

  public LedgerEntry in(SessionState next, String why) {
    Lease then = next == SessionState.QUEUED ? lease.queued() : lease;
    var at = new Status(next, why, status.foreign(), status.trace());
    return new LedgerEntry(identity, keeper, asked, then, reservation, at);
  }

  /** The entry under another name, because a newer session has this one. */
  public LedgerEntry named(SessionName other) {
    var renamed = new Identity(id(), other, root(), created());
    return new LedgerEntry(renamed, keeper, asked, lease, reservation, status);
  }

  /** The entry for this holder, with a higher term that takes the gang over. */
  public LedgerEntry keptBy(Holder other, long higher) {
    var next = new Keeper(keeper.owner(), other, higher);
    return new LedgerEntry(identity, next, asked, lease, reservation, status);
  }

  public LedgerEntry granted(Gang granted) {
    return with(reservation.granted(granted)).in(SessionState.GRANTED, "");
  }

  /** The backends where it is or waits. */
  public List<String> places() {
    return grant().isPresent()
        ? List.of(backend())
        : reservation.wanted().stream().map(Bid::backend).toList();
  }

  /** The entry after this bid was granted. */
  public LedgerEntry won(Bid bid, Gang granted) {
    return with(reservation.won(bid, granted)).in(SessionState.GRANTED, "");
  }

  /** The entry with another Python for later runs. */
  public LedgerEntry withPython(String other) {
    var changed =
        new Asked(asked.nodes(), gpus(), Optional.of(other), asked.natives(), asked.attach());
    return new LedgerEntry(identity, keeper, changed, lease, reservation, status);
  }

  public LedgerEntry leased(LeaseTerms terms) {
    var changed = new Lease(terms.hardEnd(), terms.idle());
    return new LedgerEntry(identity, keeper, asked, changed, reservation, status);
  }

  /** Whether its files were sent from elsewhere. */
  public LedgerEntry foreign(boolean isForeign) {
    return with(new Status(state(), detail(), isForeign, status.trace()));
  }

  /** With how long its start took. */
  public LedgerEntry traced(Trace start) {
    return with(new Status(state(), detail(), status.foreign(), start));
  }

  public LedgerEntry with(Reservation next) {
    return new LedgerEntry(identity, keeper, asked, lease, next, status);
  }

  private LedgerEntry with(Status next) {
    return new LedgerEntry(identity, keeper, asked, lease, reservation, next);
  }

  // ---- values of its parts that are asked for often

  public String id() {
    return identity.id();
  }

  public SessionName name() {
    return identity.name();
  }

  public Path root() {
    return identity.root();
  }

  public Instant created() {
    return identity.created();
  }

  public GpuRequest gpus() {
    return asked.gpus();
  }

  public GangId gang() {
    return reservation.first().gang();
  }

  public String backend() {
    return reservation.first().backend();
  }

  public Optional<Gang> grant() {
    return reservation.grant();
  }

  /** The grant, or, when the reply was lost, the gang by its id alone. */
  public Gang gangToRelease() {
    return grant().orElseGet(reservation.first()::gangToRelease);
  }

  public List<Bid> others() {
    return reservation.others();
  }

  public SessionState state() {
    return status.state();
  }

  public String detail() {
    return status.detail();
  }

  // ---- on disk

  public Json.Obj json() {
    return Json.object(
        "id", id(),
        "name", name().text(),
        "gang", gang().text(),
        "state", state().word(),
        "detail", detail(),
        "backend", backend(),
        "nodes", asked.nodes(),
        "gpus", gpus().toString(),
        "hard_end_s", lease.hardEnd().map(Duration::toSeconds),
        "idle_s", lease.idle().toSeconds(),
        "python", asked.python(),
        "root", root().toString(),
        "owner", keeper.owner(),
        "holder", keeper.holder().text(),
        "created", created().toString(),
        "term", keeper.term(),
        "inherit", reservation.inherit(),
        "natives", asked.natives(),
        "grant", grant().map(Gang::json),
        "others", others().stream().map(Bid::json).toList(),
        "foreign", status.foreign(),
        "attach", asked.attach(),
        "place", reservation.first().place(),
        "price", reservation.first().price(),
        "idle_rule", lease.rule().word(),
        "trace", status.trace().json());
  }

  /**
   * Reads what {@link #json} wrote.
   *
   * @throws IllegalArgumentException when a field is missing or wrong; the ledger puts such a file
   *     aside
   */
  public static LedgerEntry from(Json json) {
    var identity =
        new Identity(
            need(json, "id"),
            new SessionName(need(json, "name")),
            Path.of(need(json, "root")),
            Instant.parse(need(json, "created")));
    var keeper =
        new Keeper(
            json.text("owner").orElse(""),
            new Holder(json.text("holder").orElse("")),
            json.number("term").orElse(FIRST_TERM));
    String gpus = need(json, "gpus");
    var asked =
        new Asked(
            Math.toIntExact(json.number("nodes").orElse(1L)),
            gpus.equals("cpu") ? GpuRequest.none() : GpuRequest.parse(gpus),
            json.text("python"),
            json.texts("natives"),
            json.text("attach"));
    var lease =
        new Lease(
            json.number("hard_end_s").map(Duration::ofSeconds),
            Duration.ofSeconds(json.number("idle_s").orElse(3600L)),
            Worded.of(IdleRule.class, json.text("idle_rule").orElse("")).orElse(IdleRule.CHOSEN));
    var reservation =
        new Reservation(
            new Bid(
                need(json, "backend"),
                json.text("place").orElse(""),
                new GangId(need(json, "gang")),
                json.real("price"),
                true),
            json.object("inherit").textMap(),
            json.get("grant").map(Gang::from),
            json.items("others").stream().map(Bid::from).toList());
    var status =
        new Status(
            SessionState.valueOf(need(json, "state").toUpperCase(Locale.ROOT)),
            json.text("detail").orElse(""),
            json.flag("foreign"),
            Trace.from(json.object("trace")));
    return new LedgerEntry(identity, keeper, asked, lease, reservation, status);
  }

  private static String need(Json json, String key) {
    return json.text(key).orElseThrow(() -> new IllegalArgumentException("no " + key));
  }
}
