package dev.gpush.gateway.session.placement;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.config.Config;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.BackendFailure.Refusal;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.session.Outlook;
import dev.gpush.core.session.Outlook.Answer;
import dev.gpush.core.session.Outlook.Offer;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.Trace.Stage;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.ledger.Reservation;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionTiming;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * From a request to a whole gang: asks all eligible backends at once, chooses, reserves, and falls
 * back to the next best. {@link PlaceChoice} is the policy; {@link ReservationRace} waits in
 * several queues.
 */
public final class Placement {
  /** Less than why waits, so that it has the answers that have come. */
  private static final Duration AHEAD = Duration.ofSeconds(4);

  private final RequestBuilder requests;
  private final Backends backends;
  private final PlanPoll asking;
  private final AheadPoll ahead;
  private final Duration pause;
  private final Tasks tasks;

  public Placement(
      RequestBuilder requests, Backends backends, SessionTiming timing, Clock clock, Tasks tasks) {
    this.requests = requests;
    this.backends = backends;
    this.asking = new PlanPoll(timing.answer(), timing.grace(), clock, tasks);
    this.ahead = new AheadPoll(this::ahead, clock, tasks);
    this.pause = timing.observePause();
    this.tasks = tasks;
  }

  /** What {@code up --dry-run} shows. */
  public Outlook outlook(LedgerEntry intent, Config config, ResolvedUp wish)
      throws InterruptedException {
    List<Backend> candidates = requests.candidates(config, wish);
    List<Offer> offers = offers(candidates, intent, config, wish);
    PlaceChoice choice = PlaceChoice.of(offers);
    var why = new ArrayList<>(choice.why().isEmpty() ? List.of() : List.of(choice.why()));
    for (Backend backend : candidates) {
      boolean isChosen = choice.first().contains(backend.name());
      if (isChosen && !wish.asked().natives().isEmpty() && !backend.capabilities().takesNatives()) {
        why.add(PlaceText.unused(backend.name(), wish.asked().natives()));
      }
    }
    var smaller = new LinkedHashMap<String, Outlook.Smaller>();
    if (choice.now().isEmpty() && wish.asked().attach().isEmpty()) {
      for (Backend backend : candidates) {
        if (choice.queues().contains(backend.name())) {
          SmallerRequest.of(backend, asked(backend, intent, config, wish))
              .ifPresent(part -> smaller.put(backend.name(), part));
        }
      }
    }
    return new Outlook(offers, choice.first(), String.join("; ", why), smaller);
  }

  /** What comes before it in the queues that it waits in, by backend, where that is known. */
  public Map<String, JobsAhead> ahead(LiveSession session) throws InterruptedException {
    return session.isWaiting() ? ahead.of(session.entry().reservation().wanted(), AHEAD) : Map.of();
  }

  private Optional<JobsAhead> ahead(Bid bid) {
    try {
      return backends
          .named(bid.backend())
          .flatMap(now -> bid.at(now).capabilities().queueOrder())
          .flatMap(order -> order.ahead(bid.gang()));
    } catch (GpushException silent) {
      return Optional.empty();
    }
  }

  /** Fails unless some backend could grant the request, now or later. */
  public void requireSense(LedgerEntry intent, Config config, ResolvedUp wish)
      throws InterruptedException {
    List<Offer> offers = offers(requests.candidates(config, wish), intent, config, wish);
    List<Refusal> refusals =
        PlaceChoice.refusals(offers).stream()
            .filter(each -> !(each.failure() instanceof BackendFailure.Taken))
            .toList();
    if (refusals.size() == offers.size()) {
      throw nowhere(refusals);
    }
  }

  private List<Offer> offers(
      List<Backend> candidates, LedgerEntry intent, Config config, ResolvedUp wish)
      throws InterruptedException {
    Map<Backend, Answer> answers =
        asking.all(candidates, backend -> asked(backend, intent, config, wish));
    return candidates.stream()
        .map(
            backend ->
                new Offer(
                    backend.name(),
                    Optional.ofNullable(answers.get(backend)).orElseThrow(),
                    RequestBuilder.price(config, backend.name(), intent),
                    backend.capabilities().hasQueue()))
        .toList();
  }

  private GangRequest asked(Backend backend, LedgerEntry intent, Config config, ResolvedUp wish) {
    // Nothing is reserved yet, so one id serves for all.
    var bid = new Bid(backend.name(), "", intent.gang(), Optional.empty(), true);
    return requests.gang(asking(intent, backend, List.of(bid), wish), config);
  }

  private static LedgerEntry asking(
      LedgerEntry entry, Backend first, List<Bid> bids, ResolvedUp wish) {
    Map<String, String> inherits = first.capabilities().inherited(wish.environment());
    return entry.with(entry.reservation().asking(bids, inherits));
  }

  static GpushException nowhere(List<Refusal> refusals) {
    return new GpushException(
        refusals.size() == 1
            ? refusals.getFirst().failure()
            : new BackendFailure.Nowhere(refusals));
  }

  public Taking taking(LiveSession session, Config config, ResolvedUp wish, Talk talk) {
    return new Taking(session, config, wish, talk);
  }

  /** Places the gang of one session. The caller has the turn. */
  public final class Taking {
    private final LiveSession session;
    private final Config config;
    private final ResolvedUp wish;
    private final Talk talk;
    private final ReservationRace race = new ReservationRace(tasks, pause);
    private final List<Refusal> refusals = new ArrayList<>();
    private boolean hasAsked;

    private Taking(LiveSession session, Config config, ResolvedUp wish, Talk talk) {
      this.session = session;
      this.config = config;
      this.wish = wish;
      this.talk = talk;
    }

    /** Whether anything may be held anywhere. */
    public boolean hasAsked() {
      return hasAsked;
    }

    /** After this nothing is requested any longer. */
    public void end() {
      race.end();
    }

    /** On return the session is granted; its other bids must still be released. */
    public void take() throws InterruptedException {
      if (session.isWaiting()) {
        hasAsked = true;
        waitAt(session.entry().reservation().wanted(), race::resume);
        return;
      }
      List<Backend> candidates = requests.candidates(config, wish);
      boolean isAlone = candidates.size() == 1;
      if (!wish.gpus().isNone()) {
        talk.say(wish.words() + (isAlone ? " on " + candidates.getFirst().name() : ""));
      }
      List<Offer> offers = asked(candidates);
      PlaceChoice choice = PlaceChoice.of(offers);
      refusals.addAll(PlaceChoice.refusals(offers));
      if (choice.isEmpty()) {
        throw nowhere(refusals);
      }
      if (!choice.why().isEmpty()) {
        talk.say(choice.why());
      }
      if (!takenNow(choice)) {
        queue(choice.queues());
      }
    }

    private List<Offer> asked(List<Backend> candidates) throws InterruptedException {
      String names = String.join(", ", candidates.stream().map(Backend::name).toList());
      try (Talk.Step _ = talk.phase(Stage.PLAN, "asking " + names)) {
        return offers(candidates, session.entry(), config, wish);
      }
    }

    /** Tries one after the other; false when none of them granted. */
    private boolean takenNow(PlaceChoice choice) throws InterruptedException {
      var left = new ArrayList<>(choice.now());
      while (!left.isEmpty()) {
        Bid bid = bid(left.removeFirst(), true);
        Backend backend = backend(bid);
        ask(List.of(bid));
        String what = "reserving " + wish.words() + " on " + backend.name();
        try (Talk.Step step = talk.phase(Stage.RESERVE, what)) {
          Gang gang = backend.reserve(request(bid), waiter(step));
          session.changeAnyway(was -> was.granted(gang));
          return true;
        } catch (GpushException failed) {
          requirePlace(failed);
          refusals.add(new Refusal(backend.name(), failed.failure()));
          left.removeIf(name -> !RequestBuilder.isSubstitute(backend(name), config, wish));
          List<String> next = left.isEmpty() ? choice.queues() : left.subList(0, 1);
          if (next.isEmpty()) {
            throw refusals.size() == 1 ? failed : nowhere(refusals);
          }
          talk.say(
              FailureText.clause(backend.name(), failed.failure())
                  + "; trying "
                  + String.join(", ", next));
        }
      }
      return false;
    }

    private Waiter waiter(Talk.Step step) {
      return new Waiter() {
        @Override
        public void waits(String words) {
          session.waits(words);
          step.detail(words);
        }

        @Override
        public boolean leavesPlace() {
          return tasks.isClosed();
        }
      };
    }

    private void queue(List<String> names) throws InterruptedException {
      var bids = new ArrayList<Bid>();
      for (String name : names) {
        bids.add(bid(name, bids.isEmpty()));
      }
      ask(bids);
      waitAt(bids, race::enter);
    }

    /** The first bid has the id that the session was made with. */
    private Bid bid(String name, boolean isFirst) {
      Backend backend = backend(name);
      Bid bid =
          isFirst && !hasAsked ? Bid.of(backend, session.entry().gang()) : requests.bid(backend);
      return bid.priced(RequestBuilder.price(config, name, session.entry()));
    }

    /**
     * Writes every bid to the ledger before its backend is asked, or fails. What is written later
     * may also be missing: the next gateway finds the gang by its bid.
     */
    private void ask(List<Bid> bids) {
      Backend first = backend(bids.getFirst());
      sayUnused(bids);
      session.move(asking(session.entry(), first, bids, wish), first);
      hasAsked = true;
    }

    /** Tells the user which settings a backend does not use. */
    private void sayUnused(List<Bid> bids) {
      for (Bid bid : bids) {
        if (!wish.asked().natives().isEmpty() && !backend(bid).capabilities().takesNatives()) {
          talk.say(PlaceText.unused(bid.backend(), wish.asked().natives()));
        }
        if (config.text("image").isPresent() && !backend(bid).capabilities().takesImages()) {
          talk.say(bid.backend() + " runs no containers; image: is not used there");
        }
        if (config.text("home").isPresent()
            && (!backend(bid).capabilities().mountsVolumes()
                || wish.asked().attach().isPresent())) {
          talk.say("home: is not used on " + bid.backend() + ", which has home folders of its own");
        }
      }
    }

    private GangRequest request(Bid bid) {
      LedgerEntry entry = session.entry();
      return requests.gang(entry.with(entry.reservation().only(bid)), config);
    }

    /** Enters a bid into the race. */
    @FunctionalInterface
    private interface Entry {
      void of(Bid bid, Backend backend, GangRequest request);
    }

    /** Keeps the first whole gang, and stops the others only then. */
    private void waitAt(List<Bid> bids, Entry entry) throws InterruptedException {
      String where = String.join(" and ", bids.stream().map(Bid::backend).toList());
      var waiting = new Waiting(bids.size() > 1);
      String what = "reserving " + wish.words() + " on " + where;
      try (Talk.Step step = talk.phase(Stage.QUEUE, what)) {
        for (Bid bid : bids) {
          entry.of(bid, backend(bid), request(bid));
        }
        int left = bids.size();
        while (true) {
          switch (race.next()) {
            case ReservationRace.News.Waits(var bid, var words) -> {
              String all = waiting.heard(bid, words);
              session.waits(all);
              step.detail(all);
            }
            case ReservationRace.News.Granted(var bid, var gang) -> {
              session.moveAnyway(session.entry().won(bid, gang), backend(bid));
              race.stop();
              if (bids.size() > 1) {
                talk.say(bid.backend() + " was first to provide the nodes");
              }
              return;
            }
            case ReservationRace.News.Failed(var bid, var failed) -> {
              requirePlace(failed);
              refusals.add(new Refusal(bid.backend(), failed.failure()));
              left--;
              if (left == 0) {
                throw refusals.size() == 1 ? failed : nowhere(refusals);
              }
              Reservation rest = session.entry().reservation().givenUp(bid);
              session.moveAnyway(session.entry().with(rest), backend(rest.first()));
              waiting.forget(bid);
              talk.say(FailureText.clause(bid.backend(), failed.failure()));
            }
            case ReservationRace.News.Broke(_, var bug) -> throw bug;
            case ReservationRace.News.Died(_, var bug) -> throw bug;
            case ReservationRace.News.Stopped(_) ->
                throw new InterruptedException("the request was stopped");
          }
        }
      }
    }

    /** Throws a failure that is not the backend's own: other backends would not help. */
    private static void requirePlace(GpushException failed) {
      switch (failed.failure()) {
        case BackendFailure _, MachineFailure _, AgentFailure _ -> {}
        case Failure _ -> throw failed;
      }
    }

    private Backend backend(Bid bid) {
      return bid.at(backend(bid.backend()));
    }

    private Backend backend(String name) {
      return requests.candidates(config, wish).stream()
          .filter(each -> each.name().equals(name))
          .findFirst()
          .or(() -> backends.named(name))
          .orElseThrow(
              () ->
                  new GpushException(
                      new BackendFailure.Unavailable(
                          name, "it is no longer configured", "gpush backends")));
    }
  }

  /** The reasons of several waiting bids, in one line. */
  private static final class Waiting {
    private final Map<String, String> words = new LinkedHashMap<>();
    private final boolean isSeveral;

    Waiting(boolean isSeveral) {
      this.isSeveral = isSeveral;
    }

    String heard(Bid bid, String said) {
      words.put(bid.backend(), said);
      return all();
    }

    void forget(Bid bid) {
      words.remove(bid.backend());
    }

    private String all() {
      return isSeveral
          ? String.join(
              "; ",
              words.entrySet().stream()
                  .map(each -> each.getKey() + ": " + each.getValue())
                  .toList())
          : String.join("", words.values());
    }
  }
}
