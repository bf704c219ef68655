package dev.gpush.backends.slurm;

import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.backends.slurm.cluster.HostList;
import dev.gpush.backends.slurm.cluster.SlurmJob;
import dev.gpush.backends.slurm.command.LoginNode;
import dev.gpush.backends.slurm.command.SlurmCommands;
import dev.gpush.core.backend.LinkedAgents;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.AgentStart;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Releases a gang: its agents stop runs and remove files, then its job is ended, until it no longer
 * exists. Files that dead agents have left are removed from the login node, if it sees them.
 */
final class SlurmRelease {
  private static final Duration BETWEEN_LOOKS = Duration.ofMillis(200);

  /** The script ends when its agents have; a job that has not by then is cancelled. */
  private static final Duration OWN_END = Duration.ofSeconds(3);

  private static final Pattern STATE = Pattern.compile("([0-9]{1,4})/(.+)\\.gpush");

  /** Lists folders of nodes whose agents have not removed their files. */
  private static final String LEFT =
      """
      cd "$1" 2>/dev/null || exit 0
      for state in [0-9]*/*.gpush; do [ ! -d "$state" ] || printf '%s\\n' "$state"; done
      """;

  /** Removes gpush's folders; one with another file in it stays. */
  private static final String SWEEP =
      """
      for folder in "$@"; do
        rm -f "$folder/job.log"
        rmdir "$folder"/[0-9]* "$folder" 2>/dev/null
      done
      exit 0
      """;

  private final Site site;
  private final AgentProgram agent;
  private final LinkedAgents linked;
  private final Tasks tasks;

  SlurmRelease(Site site, AgentProgram agent, LinkedAgents linked, Tasks tasks) {
    this.site = site;
    this.agent = agent;
    this.linked = linked;
    this.tasks = tasks;
  }

  /**
   * Releases it and waits until nothing of it exists.
   *
   * @return what was kept, as {@code Backend.release} has it
   */
  List<String> all(Gang gang, Duration limit) throws InterruptedException {
    String why;
    var processes = new AtomicReference<>("");
    try {
      return tasks.within(limit, "release", () -> release(gang, limit, processes));
    } catch (TimeoutException late) {
      why = "its job has not ended within " + DurationText.of(limit) + processes.get();
    } catch (Unanswered unknown) {
      why = unknown.words();
    }
    throw new GpushException(new BackendFailure.NotReleased(site.name(), gang.id().text(), why));
  }

  private List<String> release(Gang gang, Duration limit, AtomicReference<String> processes)
      throws InterruptedException, Unanswered {
    List<SlurmJob> jobs = site.queue().of(gang.id());
    String under = under(gang, jobs);
    var kept = new ArrayList<String>();
    for (SlurmJob job : jobs) {
      if (job.isRunning()) {
        // The other half of the time is for ending the job, even if an agent does not answer.
        kept.addAll(letGo(gang, job, limit.dividedBy(2), processes));
      } else if (!job.hasEnded()) {
        cancel(job);
      }
    }
    awaitEnd(gang.id());
    kept.addAll(cleanFromLogin(gang.id(), under));
    return List.copyOf(kept);
  }

  /** Where the nodes' folders are: from the grant, from the job, or as a new job would have it. */
  private String under(Gang gang, List<SlurmJob> jobs) throws InterruptedException, Unanswered {
    if (!gang.nodes().isEmpty()) {
      return gang.nodes().getFirst().workspace().replaceFirst("/[^/]+/[^/]+$", "");
    }
    LoginNode.Facts login = site.login().facts();
    return jobs.stream()
        .flatMap(job -> JobTag.parse(job.label().comment()).stream())
        .map(JobTag::under)
        .findFirst()
        .orElseGet(() -> site.settings().under(login, gang.id().text()));
  }

  private List<String> letGo(
      Gang gang, SlurmJob job, Duration limit, AtomicReference<String> processes)
      throws InterruptedException {
    int nodes = HostList.expand(job.nodes()).size();
    Map<Integer, AgentAnswer> answers =
        site.agents()
            .withLinks(linked)
            .ask(job.id(), gang.id(), nodes, Json.object("do", "release"), limit);
    String left = AgentAnswer.left(AgentAnswer.said(answers));
    processes.set(left.isEmpty() ? "" : "; " + left);
    Optional<JobTag> tag = JobTag.parse(job.label().comment());
    return AgentAnswer.kept(
        AgentAnswer.said(answers),
        node ->
            node < gang.nodes().size()
                ? gang.nodes().get(node).workspace()
                : tag.map(known -> known.workspace(node)).orElse(""));
  }

  private void awaitEnd(GangId gang) throws InterruptedException, Unanswered {
    long cancelAt = site.time().nanos() + OWN_END.toNanos();
    Set<Long> cancelled = new TreeSet<>();
    while (true) {
      List<SlurmJob> living =
          site.queue().of(gang).stream().filter(job -> !job.hasEnded()).toList();
      if (living.isEmpty()) {
        return;
      }
      for (SlurmJob job : living) {
        // A job that is ending need not be cancelled; if it does not end, the limit applies.
        if (site.time().nanos() - cancelAt > 0
            && !job.status().state().equals("COMPLETING")
            && cancelled.add(job.id())) {
          cancel(job);
        }
      }
      Thread.sleep(BETWEEN_LOOKS);
    }
  }

  /** Cancels it; a job that has ended already is not an error. */
  void cancel(SlurmJob job) throws InterruptedException, Unanswered {
    Inquiry.Answer answer =
        site.commands().ask(List.of("scancel", Long.toString(job.id())), "", SlurmCommands.LIMIT);
    String said = answer.errors();
    if (!answer.succeeded()
        && !said.contains("Invalid job id")
        && !said.contains("already completing or completed")) {
      throw new Unanswered(SlurmCommands.problem("scancel", answer), null);
    }
  }

  // ---- from the login node

  private List<String> cleanFromLogin(GangId gang, String under)
      throws InterruptedException, Unanswered {
    Inquiry.Answer left =
        site.commands().ask(List.of("/bin/sh", "-c", LEFT, "sh", under), "", SlurmCommands.LIMIT);
    var kept = new ArrayList<String>();
    try {
      for (String state : left.output().lines().toList()) {
        Matcher match = STATE.matcher(state);
        if (match.matches()) {
          String workspace = under + "/" + match.group(1) + "/" + match.group(2);
          kept.addAll(clean(gang, Integer.parseInt(match.group(1)), workspace));
        }
      }
    } catch (IOException broken) {
      throw new Unanswered(ClusterText.clean(String.valueOf(broken.getMessage())), broken);
    }
    String folder = site.folder(site.login().facts(), gang);
    site.commands()
        .ask(List.of("/bin/sh", "-c", SWEEP, "sh", under, folder), "", SlurmCommands.LIMIT);
    return kept;
  }

  /** Removes them by an agent that holds nothing and ends after that. */
  private List<String> clean(GangId gang, int node, String workspace) throws IOException {
    var info = new NodeInfo(node, "", "", List.of(), "", 1, workspace);
    Json.Obj start =
        AgentStart.again(new Gang(gang, site.name(), List.of(info), ""), info)
            .with("env", Json.object("PATH", "/usr/bin:/bin"))
            .with("lease", Json.object("idle_s", 60, "unclaimed_s", 60));
    ask(Json.object("mode", "start", "gang", gang.text(), "node", node, "start", start));
    try {
      Json answer =
          ask(
              Json.object(
                  "mode",
                  "control",
                  "gang",
                  gang.text(),
                  "node",
                  node,
                  "control",
                  Json.object("do", "release")));
      return AgentAnswer.kept(Map.of(node, answer), _ -> workspace);
    } catch (GpushException failed) {
      if (failed.failure() instanceof AgentFailure.NotThere) {
        return List.of();
      }
      throw failed;
    }
  }

  private Json ask(Json.Obj header) throws IOException {
    try (Pipe pipe = site.commands().machine().spawn(agent.arguments(AgentProgram.INTERPRETERS))) {
      return agent.ask(pipe, header);
    }
  }
}
