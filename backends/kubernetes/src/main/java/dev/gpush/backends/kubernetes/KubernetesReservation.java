package dev.gpush.backends.kubernetes;

import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.cluster.ClusterRoom;
import dev.gpush.backends.kubernetes.cluster.Topology;
import dev.gpush.backends.kubernetes.gangs.Assembly;
import dev.gpush.backends.kubernetes.gangs.GangSystem;
import dev.gpush.backends.kubernetes.gangs.GangSystems;
import dev.gpush.backends.kubernetes.gangs.QueueReturn;
import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.objects.Jobs;
import dev.gpush.backends.kubernetes.objects.PodShaping;
import dev.gpush.backends.kubernetes.objects.PythonInitContainer;
import dev.gpush.backends.kubernetes.pods.AgentArrivals;
import dev.gpush.backends.kubernetes.pods.GrantedPods;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.PodFailure;
import dev.gpush.backends.kubernetes.pods.PodRefusal;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.backends.kubernetes.pods.StartupEvents;
import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.PollInterval;
import dev.gpush.backends.remote.QueuedRequest;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.PeerSecret;
import dev.gpush.core.json.Json;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One reservation: finds the Job of this gang or creates it, waits until all its pods are placed,
 * until they run, and until their agents answer.
 *
 * <p>A reply that was lost is not an answer: the Job is looked for by its label, and its name is
 * the gang's, so that there cannot be a second one. The objects that it owns are created again if
 * needed; an existing one is not an error.
 */
final class KubernetesReservation {
  /** Between two checks of pods whose agents are starting: a container may restart meanwhile. */
  private static final Duration LOOK = Duration.ofSeconds(2);

  /** Counted from when all containers run: enough for a cold disk and the first start of Python. */
  private static final Duration AGENTS_LIMIT = Duration.ofMinutes(3);

  private static final Duration ROLLBACK_LIMIT = Duration.ofSeconds(60);

  /** A request that has waited for longer keeps its place when a quota is changed. */
  private static final Duration NEW = Duration.ofMinutes(5);

  /** Between two requests to a scheduler to try again. */
  private static final Duration REMINDER = Duration.ofSeconds(10);

  private final Namespace place;
  private final AgentProgram agent;
  private final AgentArrivals arrivals;
  private final SecureRandom random;
  private final KubernetesRelease release;
  private final GangRequest request;
  private final Waiter waiter;
  private final Assembly assembly;
  private final StartupEvents troubles;
  private final LastingFailure refusing;
  private final LastingFailure unplaceable;
  private final LastingFailure broken;
  private long reminded;
  private long newUntil;

  KubernetesReservation(
      Namespace place,
      AgentProgram agent,
      AgentArrivals arrivals,
      SecureRandom random,
      KubernetesRelease release,
      GangRequest request,
      Waiter waiter) {
    this.place = place;
    this.agent = agent;
    this.arrivals = arrivals;
    this.random = random;
    this.release = release;
    this.request = request;
    this.waiter = waiter;
    this.reminded = place.time().nanos();
    this.newUntil = place.time().nanos();
    this.troubles = new StartupEvents(place);
    this.refusing = new LastingFailure(place.time());
    this.unplaceable = new LastingFailure(place.time());
    this.broken = new LastingFailure(place.time());
    this.assembly = new Assembly(place, random, request.gang());
  }

  /** Creates the Job unless it exists. */
  Gang take() throws InterruptedException {
    try (arrivals) {
      return queued()
          .take(
              () -> {
                PodShaping.Result.Fits fits = required();
                GangSystem system = GangSystems.of(place).system();
                GangObjects manifest = manifest(fits);
                newUntil = place.time().nanos() + NEW.toNanos();
                complete(created(manifest, system), manifest, system);
                return placed(system);
              });
    }
  }

  /**
   * Waits for a Job that was created before, and never creates one. It fitted then: a node that is
   * away now may come back.
   */
  Gang resume() throws InterruptedException {
    try (arrivals) {
      return queued()
          .resume(
              () -> {
                GangSystem system = GangSystems.of(place).system();
                Json job = existing();
                if (room(place.roomAsPlanned()) instanceof PodShaping.Result.Fits fits) {
                  complete(job, manifest(fits), system);
                }
                return placed(system);
              });
    }
  }

  /** Objects that remain after a rollback are found by their label. */
  private QueuedRequest queued() {
    var gang = new Gang(request.gang(), place.name(), List.of(), "");
    return new QueuedRequest(
        place.name(),
        waiter,
        () -> {
          arrivals.close();
          release.all(gang, ROLLBACK_LIMIT, KubernetesRelease.SHORT_GRACE);
        });
  }

  private GpushException never(String reason, List<String> works) {
    return new GpushException(new BackendFailure.NeverFits(place.name(), reason, works));
  }

  /** What is checked before anything is made. */
  private PodShaping.Result.Fits required() throws InterruptedException, Unanswered {
    return switch (room(place.roomAsPlanned())) {
      case PodShaping.Result.Hopeless(var reason, var works) -> throw never(reason, works);
      case PodShaping.Result.Fits fits -> {
        if (quota(fits).orElse(null) instanceof Plan.Never(var reason, var works)) {
          throw never(reason, works);
        }
        new AccessCheck(place).requireCommands();
        yield fits;
      }
    };
  }

  private PodShaping.Result room(ClusterRoom room) {
    return new PodShaping(request, place.settings(), room).result();
  }

  /** Why the namespace does not let it start now, if so. */
  private Optional<Plan> quota(PodShaping.Result.Fits fits)
      throws InterruptedException, Unanswered {
    return new KubernetesPlan(place, request).quota(fits.shape());
  }

  private GangObjects manifest(PodShaping.Result.Fits fits)
      throws InterruptedException, Unanswered {
    return new GangObjects(
        request,
        place.settings(),
        fits.shape(),
        place.policy().isEmpty(),
        Topology.of(place.settings(), fits.nodes()));
  }

  private Gang placed(GangSystem system) throws InterruptedException, Unanswered {
    awaitPlaces(system);
    return awaitAgents();
  }

  // ---- the objects

  private Json created(GangObjects manifest, GangSystem system)
      throws InterruptedException, Unanswered {
    List<String> interpreters =
        PythonInitContainer.interpreters(place.settings().pod().pythonImage().isPresent());
    Json.Obj job =
        system.marked(manifest.job(agent.commandIn(GangObjects.OWN, interpreters)), manifest);
    var retry = new CreationRetry(place.time(), waiter);
    while (true) {
      Optional<Json> there = whatIsThere();
      if (there.isPresent()) {
        return there.get();
      }
      try {
        return place.api().create(place.path(Jobs.GROUP, "jobs"), job);
      } catch (ApiRefusal refusal) {
        if (!refusal.alreadyExists()) {
          throw refused(refusal);
        }
      } catch (Unanswered lost) {
        retry.await(lost);
      }
    }
  }

  private Json existing() throws InterruptedException, Unanswered {
    return whatIsThere().orElseThrow(() -> place.failed("its job no longer exists"));
  }

  /** As long as the state is unknown, nothing is created again. */
  private Optional<Json> whatIsThere() throws InterruptedException, Unanswered {
    var interval = new PollInterval();
    while (true) {
      try {
        return place.job(request.gang());
      } catch (Unanswered unknown) {
        if (unknown.known().isPresent()) {
          throw unknown;
        }
        waiter.waits(unknown.words());
        interval.await();
      }
    }
  }

  private GpushException refused(ApiRefusal refusal) {
    if (refusal.isForbidden() && refusal.words().contains("cannot create")) {
      return new GpushException(
          new BackendFailure.Unavailable(
              place.name(), ClusterText.clean(refusal.words()), "gpush backends --explain"));
    }
    return never("the cluster refuses it: " + refusal.words(), List.of("gpush backends --explain"));
  }

  private void complete(Json job, GangObjects manifest, GangSystem system)
      throws InterruptedException, Unanswered {
    if (Jobs.end(job).isPresent()) {
      throw place.failed(Jobs.end(job).get());
    }
    there("/api/v1", "services", manifest.service(job));
    there("/api/v1", "secrets", manifest.secret(job, agent, PeerSecret.random(random)));
    for (GangSystem.Companion companion : system.companions(job, manifest)) {
      there(companion.group(), companion.kind(), companion.object());
    }
  }

  /** Creates the object; an existing one is not an error. */
  private void there(String group, String kind, Json.Obj object)
      throws InterruptedException, Unanswered {
    var retry = new CreationRetry(place.time(), waiter);
    while (true) {
      try {
        place.api().create(place.path(group, kind), object);
        return;
      } catch (ApiRefusal refusal) {
        // A quota is checked before the name: one that waits has its objects.
        if (refusal.alreadyExists() || (refusal.isOverQuota() && !isNew())) {
          return;
        }
        throw refused(refusal);
      } catch (Unanswered lost) {
        retry.await(lost);
      }
    }
  }

  // ---- waiting

  private void awaitPlaces(GangSystem system) throws InterruptedException, Unanswered {
    var interval = new PollInterval();
    PodShaping.Result room = room(place.roomAsPlanned());
    boolean begun = false;
    boolean isFirst = true;
    var returning = new QueueReturn(place, system, random);
    try {
      while (true) {
        try {
          Json job = living();
          Pods pods = Pods.of(place, request.gang());
          arrivals.greet(pods);
          if (!isFirst && Jobs.isSuspended(job) && system.begin() == GangSystem.Begin.ASSEMBLED) {
            room = room(place.room());
          }
          isFirst = false;
          if (!begun && system.begin() == GangSystem.Begin.AT_ONCE && Jobs.isSuspended(job)) {
            begin(job);
            begun = true;
          } else if (!Jobs.isSuspended(job) && pods.placed() == request.nodes()) {
            return;
          } else {
            waiter.waits(words(system, returning, job, pods, room));
          }
        } catch (Unanswered unknown) {
          waiter.waits("its state is unknown: " + unknown.words());
        }
        interval.await();
      }
    } finally {
      assembly.letGo();
    }
  }

  private String words(
      GangSystem system, QueueReturn returning, Json job, Pods pods, PodShaping.Result room)
      throws InterruptedException, Unanswered {
    // An event stays for an hour, also when the pods could be created later.
    Optional<PodRefusal> refusal =
        pods.living().size() < request.nodes() ? PodRefusal.of(place, job) : Optional.empty();
    boolean isRefused = refusal.filter(it -> it.isHopeless(request.nodes())).isPresent();
    Optional<String> refused = refusal.map(PodRefusal::words);
    if (refusing.look(isRefused)) {
      throw never(
          "the cluster refuses its pods: " + refused.orElseThrow(),
          List.of(place.kubectl("describe resourcequota,limitrange")));
    }
    if (system.begin() == GangSystem.Begin.ASSEMBLED) {
      if (Jobs.isSuspended(job) && room instanceof PodShaping.Result.Fits fits) {
        Optional<String> quota = quota(fits).map(KubernetesPlan::reason);
        if (quota.isPresent()) {
          return quota.get() + "; nothing is reserved meanwhile";
        }
      }
      hopeless(system.waiting(place, job, pods));
      return switch (assembly.step(job, pods, room, request.nodes(), system.rest())) {
        case Assembly.Step.Placed _ -> "all pods are placed";
        case Assembly.Step.Waits(var words) -> refused.map(why -> words + "; " + why).orElse(words);
      };
    }
    Optional<String> returned = returning.step(job, pods, request.nodes());
    if (returned.isPresent()) {
      return returned.get();
    }
    Optional<GangSystem.Waiting> said = system.waiting(place, job, pods);
    hopeless(said);
    remind(system, job);
    return said.map(GangSystem.Waiting::words)
        .or(() -> refused)
        .or(pods::unplaced)
        .orElse("its pods are being placed");
  }

  private void remind(GangSystem system, Json job) throws InterruptedException, Unanswered {
    if (place.time().nanos() - reminded > REMINDER.toNanos()) {
      reminded = place.time().nanos();
      system.remind(place, job);
    }
  }

  private void hopeless(Optional<GangSystem.Waiting> said) {
    if (unplaceable.look(isNew() && said.filter(GangSystem.Waiting::isHopeless).isPresent())) {
      throw never(said.orElseThrow().words(), List.of(place.kubectl("get events")));
    }
  }

  private boolean isNew() {
    return place.time().nanos() - newUntil < 0;
  }

  private void begin(Json job) throws InterruptedException, Unanswered {
    try {
      place
          .api()
          .change(
              place.path(Jobs.GROUP, "jobs", Jobs.name(job)),
              Json.object("spec", Json.object("suspend", false)));
    } catch (ApiRefusal refusal) {
      throw place.notAllowed("change jobs", refusal);
    }
  }

  private Json living() throws InterruptedException, Unanswered {
    Json job = place.job(request.gang()).orElseThrow(() -> place.failed("its job was deleted"));
    Jobs.end(job)
        .ifPresent(
            how -> {
              throw place.failed(how);
            });
    if (Jobs.isBeingDeleted(job)) {
      throw place.failed("its job is being deleted");
    }
    return job;
  }

  /**
   * Images may take long, but pods that will never run are detected. The agent of each pod is asked
   * as soon as its container runs, and the gang is granted when all have answered.
   */
  private Gang awaitAgents() throws InterruptedException, Unanswered {
    var interval = new PollInterval();
    OptionalLong end = OptionalLong.empty();
    while (true) {
      try {
        Json job = living();
        Pods pods = Pods.of(place, request.gang());
        arrivals.greet(pods);
        if (pods.allRun(request.nodes())) {
          Map<Integer, AgentAnswer> answers = arrivals.await(pods, LOOK);
          Map<Integer, Json> said = AgentAnswer.said(answers);
          if (said.size() == request.nodes()) {
            new JobDeadline(place).keepAfter(job, said.values());
            return new GrantedPods(place, job).gang(pods, said, place.nodes(pods));
          }
          end = OptionalLong.of(end.orElse(place.time().nanos() + AGENTS_LIMIT.toNanos()));
          // Running pods cost money even if they cannot be reached.
          if (place.time().nanos() - end.getAsLong() > 0) {
            throw place.failed("its agents do not answer: " + AgentAnswer.silent(answers));
          }
          waiter.waits("agents: " + AgentAnswer.silent(answers));
          interval = new PollInterval();
        } else {
          waiter.waits(starting(pods));
        }
      } catch (Unanswered unknown) {
        waiter.waits("its state is unknown: " + unknown.words());
      }
      interval.await();
    }
  }

  private String starting(Pods pods) throws InterruptedException, Unanswered {
    Optional<String> bad = Optional.empty();
    String words = "its pods are being created";
    Map<String, StartupEvents.Trouble> troubled = troubles.of(pods.starting());
    for (var each : pods.byNode().entrySet()) {
      if (Pods.isRunning(each.getValue())) {
        continue;
      }
      PodFailure fate = PodFailure.of(each.getValue());
      String of = "node " + each.getKey() + ": " + fate.words();
      switch (fate.kind()) {
        case NO_PYTHON ->
            throw never(
                fate.words(),
                List.of(
                    "python-image: python:3.13-slim in its block of ~/.gpush/config.yaml",
                    "an image with /bin/sh and a Python 3.6 or later"));
        case BROKEN -> bad = Optional.of(of + log(each.getValue()));
        case STARTING, RETRIED, REFUSED -> words = of + trouble(troubled, each.getValue(), of);
        case UNPLACED, TAKEN -> words = of;
      }
    }
    if (broken.look(bad.isPresent())) {
      throw place.failed(bad.orElseThrow());
    }
    return bad.orElse(words);
  }

  private String trouble(Map<String, StartupEvents.Trouble> troubled, Json pod, String of)
      throws InterruptedException {
    StartupEvents.Trouble trouble = troubled.get(Pods.name(pod));
    if (trouble == null) {
      return "";
    }
    if (PodFailure.of(pod).kind() == PodFailure.Kind.REFUSED) {
      if (trouble.isLasting()) {
        throw refusedImage(of);
      }
      return "";
    }
    String words = trouble.words().isEmpty() ? "" : "; " + trouble.words();
    if (trouble.isLasting()) {
      throw place.failed(of + ", and for longer than assembly: allows" + words + log(pod));
    }
    return words;
  }

  private GpushException refusedImage(String why) {
    String file = request.options().image().isPresent() ? "gpush.yaml" : "~/.gpush/config.yaml";
    String remedy = "check image: in " + file + ", and pull secrets in " + place.namespace();
    return new GpushException(new BackendFailure.ImageRefused(place.name(), why, remedy));
  }

  /** The last output of a container that has ended; empty if the user may not read it. */
  private String log(Json pod) throws InterruptedException {
    Optional<String> speaker = PodFailure.speaker(pod);
    if (speaker.isEmpty()) {
      return "";
    }
    try {
      String said = place.api().log(place.namespace(), Pods.name(pod), speaker.get());
      return said.isBlank() ? "" : "; it wrote: " + ClusterText.clean(said);
    } catch (Unanswered unknown) {
      return "";
    }
  }
}
