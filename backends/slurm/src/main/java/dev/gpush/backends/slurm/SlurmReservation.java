package dev.gpush.backends.slurm;

import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.GangTag;
import dev.gpush.backends.remote.PollInterval;
import dev.gpush.backends.remote.QueuedRequest;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.backends.slurm.cluster.SlurmTime;
import dev.gpush.backends.slurm.cluster.WaitReason;
import dev.gpush.backends.slurm.command.LoginNode;
import dev.gpush.backends.slurm.command.SbatchRefusal;
import dev.gpush.backends.slurm.command.SlurmCommands;
import dev.gpush.backends.slurm.command.SlurmQueue;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.AgentStart;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.PeerSecret;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Inquiry;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One reservation: finds the job of this gang or submits it, waits until it runs, and until its
 * agents answer.
 *
 * <p>A reply that was lost is not an answer: the job is looked for by its name, and only when the
 * controller says that there is none is it submitted again. If there are still two, the older one
 * is kept; {@code singleton} prevents the other from starting meanwhile. The job stays in the queue
 * as long as the request is not cancelled.
 */
final class SlurmReservation {
  /** How long sbatch may take, because a controller under load is slow. */
  private static final Duration SUBMIT_LIMIT = Duration.ofSeconds(60);

  /** Enough for prolog scripts, cold network file systems, and the first start of Python. */
  private static final Duration AGENTS_LIMIT = Duration.ofMinutes(3);

  /** Every node fetches and unpacks an image of many gigabytes by itself. */
  private static final Duration IMAGE_LIMIT = Duration.ofMinutes(30);

  /** The limit of one question, after which gpush checks that the job still runs. */
  private static final Duration AGENTS_PATIENCE = Duration.ofSeconds(10);

  /**
   * Between the start of a job and of its agents: the slack before Slurm's limit has room for it.
   */
  private static final Duration USUAL_DELAY = JobShaping.SLACK.dividedBy(2);

  private static final Duration STATUS_LIMIT = Duration.ofSeconds(30);
  private static final Duration ROLLBACK_LIMIT = Duration.ofSeconds(30);

  /** An accepted job is listed soon; one that is missing this many times is gone. */
  private static final int MISSES = 3;

  /** A reason may be temporary until the scheduler has considered the job. */
  private static final int HOPELESS_LOOKS = 3;

  /** After submission: time for a busy scheduler to consider the job. */
  private static final Duration NEW = Duration.ofMinutes(5);

  private static final int TRIES = 3;

  /**
   * The variables of the submitting user that sbatch may export: the user's identity and PATH,
   * nothing else.
   */
  private static final String EXPORTED =
      "--export=HOME,USER,LOGNAME,SHELL,LANG,PATH,MODULEPATH,MODULESHOME";

  private static final int EXISTS = 74;

  /** Searches and submits in one command, because a login node may be far away. */
  private static final String SUBMIT =
      """
      unset SQUEUE_ACCOUNT SQUEUE_LICENSES SQUEUE_NAMES SQUEUE_PARTITION SQUEUE_QOS SQUEUE_USERS
      known=$(squeue -a -h -t all -u "$1" "--name=$2" -o %i) || exit 1
      if [ -n "$known" ]; then exit 74; fi
      shift 2
      umask 077
      mkdir -p "$1" || exit 73
      shift
      exec sbatch "$@"
      """;

  private final Site site;
  private final AgentProgram agent;
  private final SecureRandom random;
  private final SlurmRelease release;
  private final GangRequest request;
  private final Waiter waiter;

  SlurmReservation(
      Site site,
      AgentProgram agent,
      SecureRandom random,
      SlurmRelease release,
      GangRequest request,
      Waiter waiter) {
    this.site = site;
    this.agent = agent;
    this.random = random;
    this.release = release;
    this.request = request;
    this.waiter = waiter;
  }

  /** Submits the job unless it exists. */
  Gang take() throws InterruptedException {
    return queued()
        .take(
            () -> {
              submit();
              return linked(awaitNodes(site.time().nanos() + NEW.toNanos()));
            });
  }

  /** Waits for a job that was submitted before, and never submits one. */
  Gang resume() throws InterruptedException {
    return queued().resume(() -> linked(awaitNodes(site.time().nanos())));
  }

  /** A job that remains after a rollback is found by its name. */
  private QueuedRequest queued() {
    var gang = new Gang(request.gang(), site.name(), List.of(), "");
    return new QueuedRequest(site.name(), waiter, () -> release.all(gang, ROLLBACK_LIMIT));
  }

  private GpushException failed(String why) {
    return new GpushException(new BackendFailure.ReserveFailed(site.name(), why));
  }

  // ---- the job

  /** On return this gang has or had a job: one that has ended is not submitted again. */
  private void submit() throws InterruptedException, Unanswered {
    switch (site.shapeAsPlanned(request)) {
      case JobShaping.Result.Fits(var shape) -> submit(shape);
      case JobShaping.Result.Hopeless(var reason, var works) -> {
        if (site.queue().of(request.gang()).isEmpty()) {
          throw never(reason, works);
        }
      }
    }
  }

  private void submit(JobShape shape) throws InterruptedException, Unanswered {
    LoginNode.Facts login = site.login().facts();
    String folder = site.folder(login, request.gang());
    JobTag tag = JobTag.of(request, shape, site.settings().under(login, request.gang().text()));
    String name = SlurmQueue.name(request.gang());
    var command =
        new ArrayList<>(
            List.of("/bin/sh", "-c", SUBMIT, "sh", login.user(), name, folder, "--parsable"));
    command.addAll(shape.options());
    command.addAll(
        List.of(
            "--job-name=" + name,
            "--comment=" + tag.text(),
            "--dependency=singleton",
            "--no-requeue",
            "--wait-all-nodes=1",
            "--chdir=/",
            "--output=" + folder + "/job.log",
            EXPORTED));
    String script = script(shape, tag, folder);
    for (int attempt = 1; attempt <= TRIES; attempt++) {
      if (accepted(command, script) || isThere()) {
        return;
      }
    }
    throw failed("sbatch gave no answer " + TRIES + " times, and there is no job");
  }

  private GpushException never(String reason, List<String> works) {
    return new GpushException(new BackendFailure.NeverFits(site.name(), reason, site.typed(works)));
  }

  private String script(JobShape shape, JobTag tag, String folder) {
    Json.Obj start =
        AgentStart.of(request)
            .with("under", tag.under())
            .with("project", tag.gang().requester().project())
            .with("env_over", variables())
            .with("lease", request.lease().json().with("hard_s", shape.hardEnd().toSeconds()))
            .with("peers", PeerSecret.random(random).onHosts())
            .with("foreground", true)
            .with("guard", true)
            .with("taken_s", shape.grace().toSeconds());
    byte[] packet = agent.packet(AgentStart.header(request, "SLURM_NODEID", start));
    return HolderScript.text(
        request.requester().session(),
        request.nodes(),
        agent.arguments(AgentProgram.INTERPRETERS),
        packet,
        folder,
        site.settings().with(request).container(),
        tag.under());
  }

  private Map<String, String> variables() {
    var variables = new TreeMap<>(request.environment());
    if (!request.gpus().isNone()) {
      variables.put("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    }
    return variables;
  }

  /**
   * Submits once, if there is no such job.
   *
   * @return false when it is unknown whether it was
   */
  private boolean accepted(List<String> command, String script) throws InterruptedException {
    Inquiry.Answer answer;
    try {
      answer = site.commands().ask(command, script, SUBMIT_LIMIT);
    } catch (Unanswered lost) {
      waiter.waits(lost.words());
      return false;
    }
    // Some sites print banners first, or advice after it.
    boolean hasId = answer.output().lines().anyMatch(line -> line.matches("[0-9]+(;.*)?"));
    if (answer.status() == EXISTS || (answer.succeeded() && hasId)) {
      return true;
    }
    if (answer.status() == 73) {
      throw new GpushException(
          new AgentFailure.CannotWrite(
              site.machine() + ":~/gpush", ClusterText.clean(answer.errors())));
    }
    SbatchRefusal refusal = SbatchRefusal.of(answer.errors());
    if (refusal.isHopeless()) {
      throw never(refusal.words(), refusal.works());
    }
    if (refusal.mayHaveArrived() || answer.succeeded()) {
      waiter.waits(refusal.words());
      return false;
    }
    throw failed(refusal.words());
  }

  private boolean isThere() throws InterruptedException {
    var interval = new PollInterval();
    for (int look = 0; look < MISSES; look++) {
      interval.await();
      try {
        if (!site.queue().of(request.gang()).isEmpty()) {
          return true;
        }
      } catch (Unanswered unknown) {
        // As long as the state is unknown, nothing is submitted again.
        look--;
        waiter.waits(unknown.words());
      }
    }
    return false;
  }

  /**
   * Waits for the job's nodes.
   *
   * @param newUntil by the local clock
   */
  private SlurmJob awaitNodes(long newUntil) throws InterruptedException {
    var interval = new PollInterval();
    var prospect = new Prospect(site);
    int misses = 0;
    int hopeless = 0;
    while (true) {
      try {
        List<SlurmJob> jobs = site.queue().of(request.gang());
        Optional<SlurmJob> living = SlurmQueue.living(jobs);
        if (living.isPresent()) {
          SlurmJob job = living.get();
          cancelOthers(jobs, job);
          if (job.isRunning()) {
            return job;
          }
          WaitReason reason = WaitReason.of(job.status().reason());
          boolean isNew = site.time().nanos() - newUntil < 0;
          hopeless = job.isWaiting() && reason.isHopeless(isNew) ? hopeless + 1 : 0;
          if (hopeless == HOPELESS_LOOKS) {
            throw never(reason.words(), List.of());
          }
          waiter.waits(prospect.words(job, reason));
          misses = 0;
        } else if (!jobs.isEmpty()) {
          throw failed(jobs.getLast().fate() + log());
        } else if (++misses == MISSES) {
          throw failed("its job is no longer in the queue");
        }
      } catch (Unanswered unknown) {
        waiter.waits("its state is unknown: " + unknown.words());
      }
      interval.await();
    }
  }

  private void cancelOthers(List<SlurmJob> jobs, SlurmJob stays)
      throws InterruptedException, Unanswered {
    for (SlurmJob job : jobs) {
      if (!job.hasEnded() && job.id() != stays.id()) {
        release.cancel(job);
      }
    }
  }

  // ---- the agents

  private Gang linked(SlurmJob job) throws InterruptedException {
    Optional<Container> container = site.settings().with(request).container();
    waiter.waits(
        "starting agents on "
            + ClusterText.clean(job.nodes())
            + container.map(in -> " in " + in.image()).orElse(""));
    JobTag tag = JobTag.parse(job.label().comment()).orElseGet(() -> lostTag(job));
    GrantedJob grant = new GrantedJob(site.name(), request.gang(), job, tag);
    Duration most = container.isPresent() ? IMAGE_LIMIT : AGENTS_LIMIT;
    long end = site.time().nanos() + most.toNanos();
    var interval = new PollInterval();
    while (true) {
      try {
        Optional<Map<Integer, Json>> statuses = statuses(job, end);
        if (statuses.isPresent()) {
          keepBeforeLimit(job, statuses.get());
          return grant.gang(site.nodes(job.nodes()), statuses.get());
        }
      } catch (Unanswered unknown) {
        // The connection may come back: a laptop that slept wakes up to a job that runs.
        end = site.time().nanos() + most.toNanos();
        waiter.waits("its state is unknown: " + unknown.words());
      }
      interval.await();
    }
  }

  /**
   * Agents count their hard end from their own start, and Slurm its limit from the job's. Between
   * them may be a prolog and the fetching of an image: then the hard end moves, because Slurm would
   * end the job before agents have warned runs and removed files.
   */
  private void keepBeforeLimit(SlurmJob job, Map<Integer, Json> statuses)
      throws InterruptedException, Unanswered {
    Optional<Duration> most =
        SlurmQueue.living(site.queue().of(request.gang()))
            .flatMap(now -> SlurmTime.span(now.times().left()))
            .map(JobShaping::before);
    Duration latest =
        Duration.ofSeconds(
            statuses.values().stream()
                .mapToLong(status -> status.number("hard_left_s").orElse(0L))
                .max()
                .orElse(0));
    if (most.isEmpty() || latest.minus(USUAL_DELAY).compareTo(most.get()) <= 0) {
      return;
    }
    Json.Obj renew =
        request.lease().json().with("do", "renew").with("hard_s", most.get().toSeconds());
    AgentAnswer.requireRenewed(
        site.agents().ask(job.id(), request.gang(), request.nodes(), renew, STATUS_LIMIT));
  }

  /** The agents' answers, once all of them answer. */
  private Optional<Map<Integer, Json>> statuses(SlurmJob job, long end)
      throws InterruptedException, Unanswered {
    Map<Integer, AgentAnswer> answers =
        site.agents()
            .await(
                job.id(),
                request.gang(),
                request.nodes(),
                Json.object("do", "status", "waits", true),
                AGENTS_PATIENCE,
                STATUS_LIMIT);
    Map<Integer, Json> statuses = AgentAnswer.said(answers);
    if (statuses.size() == request.nodes()) {
      return Optional.of(statuses);
    }
    requireLiving(answers, end);
    return Optional.empty();
  }

  /** Made from the request, if the site has rewritten the job's comment. */
  private JobTag lostTag(SlurmJob job) {
    try {
      String under = site.settings().under(site.login().facts(), request.gang().text());
      return new JobTag(GangTag.of(request, request.gpus().model().orElse("GPU"), 1), under);
    } catch (Unanswered unknown) {
      throw failed(unknown.words());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw failed("interrupted while " + job.words() + " was checked");
    }
  }

  private void requireLiving(Map<Integer, AgentAnswer> answers, long end)
      throws InterruptedException, Unanswered {
    List<SlurmJob> jobs = site.queue().of(request.gang());
    if (SlurmQueue.living(jobs).isEmpty()) {
      String log = log();
      if (log.contains("no-python") || log.contains("python-broken")) {
        throw new GpushException(new AgentFailure.NoPython(AgentProgram.INTERPRETERS));
      }
      throw failed((jobs.isEmpty() ? "its job has ended" : jobs.getLast().fate()) + log);
    }
    if (site.time().nanos() - end > 0) {
      throw failed("its agents do not answer: " + AgentAnswer.silent(answers) + log());
    }
  }

  /** The end of the job's log, for a failure; empty when there is none. */
  private String log() throws InterruptedException {
    try {
      String file = site.folder(site.login().facts(), request.gang()) + "/job.log";
      String said =
          site.commands()
              .ask(List.of("tail", "-c", "1000", file), "", SlurmCommands.LIMIT)
              .output();
      return said.isBlank() ? "" : "; it wrote: " + ClusterText.clean(said);
    } catch (Unanswered unknown) {
      return "";
    }
  }
}
