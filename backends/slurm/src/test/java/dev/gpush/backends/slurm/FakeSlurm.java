package dev.gpush.backends.slurm;

import dev.gpush.core.backend.Capabilities.RequestQueue;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.fake.ChildPipe;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A login node whose Slurm programs print what a test has written. Its partition {@code lab} is
 * hidden, and with it the job of the gang, which has two nodes. The user's profile restricts squeue
 * to another partition.
 */
final class FakeSlurm implements Machine, AutoCloseable {
  private static final GangId GANG = new GangId("0123456789abcdef");

  private static final String PREAMBLE = "0123456789abcdef0123456789abcdef";

  private final Tasks tasks = Tasks.named("fake-slurm", (_, _) -> {});
  private final SecureRandom random = new SecureRandom();
  private final Path folder;
  private final Clock clock;
  private Optional<MachineFailure> closed = Optional.empty();

  FakeSlurm(Path folder, Clock clock) throws IOException {
    this.folder = folder;
    this.clock = clock;
    findsUsers();
    program("id", "echo ann");
    program(
        "scontrol",
        "case \" $* \" in *' config '*) cat \"$HOME/config\";; *' -a '*) cat \"$HOME/nodes\";; esac");
    keepsPrivate("none");
    program("sbatch", "echo 'sbatch: Job 8 to start at 2026-01-01T00:00:00' >&2");
    program("sinfo", "echo slurm 24.11.5");
    program(
        "srun",
        """
        case " $* " in
          *' --help '*) ;;
          *' --mpi=none '*)
            cat > "$HOME/asked.$$"
            set -- "$HOME"/asked.*
            [ $# -le "$(cat "$HOME/silent")" ] || cat "$HOME/answers";;
          *) echo 'srun: error: no PMIx' >&2; exit 1;;
        esac\
        """);
    silent(0);
    Files.writeString(
        folder.resolve("nodes"),
        """
        PartitionName=lab Default=NO Hidden=YES MaxNodes=UNLIMITED MaxTime=UNLIMITED State=UP
        NodeName=g1 CPUTot=8 RealMemory=64000 State=IDLE Partitions=lab
        NodeName=g2 CPUTot=8 RealMemory=64000 State=IDLE Partitions=lab
        """);
    runs("9:00:00");
  }

  /** What it shows only to those whose it is. */
  void keepsPrivate(String what) throws IOException {
    Files.writeString(
        folder.resolve("config"),
        "PriorityType            = priority/multifactor\nPrivateData             = " + what + "\n");
  }

  /**
   * The job of the gang waits, and so do these: each a line of squeue with | between the fields.
   */
  void waits(String... others) throws IOException {
    Files.writeString(
        folder.resolve("jobs"), (own() + String.join("\n", others) + "\n").replace('|', '\u001f'));
  }

  private static String own() {
    return "7|gpush-" + GANG.text() + "|ann|PENDING|Priority|lab|N/A||1:00:00|500|2|gres:gpu:8|\n";
  }

  /** Its user database does not answer. */
  void losesUsers() throws IOException {
    program("squeue", "echo 'squeue: error: Invalid user: ann' >&2");
  }

  void findsUsers() throws IOException {
    program(
        "squeue",
        """
        [ -z "$SQUEUE_PARTITION$SQUEUE_PRIORITY" ] || exit 0
        case " $* " in
          *' -t PENDING,'*) [ "$SLURM_BITSTR_LEN" = 0 ] && cat "$HOME/jobs";;
          *' -a '*) cat "$HOME/jobs";;
        esac\
        """);
  }

  /** There is no job until sbatch is run, which prints this. */
  void submits(String said) throws IOException {
    Files.deleteIfExists(folder.resolve("submitted"));
    program("squeue", "[ ! -e \"$HOME/submitted\" ] || cat \"$HOME/jobs\"");
    program("sbatch", "cat > /dev/null; touch \"$HOME/submitted\"; printf '%s\\n' '" + said + "'");
  }

  private void program(String name, String script) throws IOException {
    Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** The job runs, and Slurm ends it after this time. */
  void runs(String left) throws IOException {
    Files.writeString(
        folder.resolve("jobs"),
        String.join(
                "\u001f",
                "7",
                "gpush-" + GANG.text(),
                "ann",
                "RUNNING",
                "None",
                "lab",
                "2026-01-01T00:00:00",
                "g[1-2]",
                left,
                "1",
                "2",
                "N/A",
                "")
            + "\n");
  }

  /** What the agents of the nodes answer, whatever they are asked; empty: nothing. */
  void answer(List<Json> answers) throws IOException {
    var lines = new StringBuilder();
    for (int node = 0; node < answers.size(); node++) {
      if (!answers.get(node).equals(Json.object())) {
        lines.append(node + ": " + PREAMBLE + answers.get(node).write() + "\n");
        lines.append(node + ": gpush-exit:0\n");
      }
    }
    Files.writeString(folder.resolve("answers"), lines);
  }

  /** No agent answers the first questions. */
  void silent(int questions) throws IOException {
    Files.writeString(folder.resolve("silent"), Integer.toString(questions));
  }

  /** What the agents were asked to renew. */
  List<String> renewals() throws IOException {
    var found = new ArrayList<String>();
    try (Stream<Path> all = Files.list(folder)) {
      for (Path file :
          all.filter(each -> each.getFileName().toString().contains("asked.")).toList()) {
        String packet = Files.readString(file, StandardCharsets.ISO_8859_1);
        int size = Integer.parseInt(packet.substring(0, 8), 16);
        Json.Obj control = Json.parse(packet.substring(8, 8 + size)).object("control");
        if (control.text("do").equals(Optional.of("renew"))) {
          found.add(control.write());
        }
      }
    }
    return found;
  }

  static Gang gang() {
    return new Gang(GANG, "hpc", List.of(), "");
  }

  static GangRequest request(Duration hardEnd) {
    return GangRequest.of(
        GANG,
        new Requester("ann@lab", "here", "devbox", "project"),
        2,
        GpuRequest.none(),
        new LeaseTerms(Optional.of(hardEnd), Duration.ofHours(1)));
  }

  SlurmBackend backend(Json.Obj values) {
    return SlurmBackend.of(
        new BackendConfig("hpc", "slurm", values, ""),
        this,
        List.of(),
        new AgentImage(tasks, random),
        tasks,
        clock,
        random);
  }

  /** The gang of the job that runs. */
  Gang resumed(Duration hardEnd) throws InterruptedException {
    return resumed(hardEnd, _ -> {});
  }

  Gang resumed(Duration hardEnd, Waiter waiter) throws InterruptedException {
    RequestQueue queue = backend(Json.object()).capabilities().queue().orElseThrow();
    return queue.resume(request(hardEnd), waiter);
  }

  @Override
  public String name() {
    return "login";
  }

  void close(MachineFailure failure) {
    closed = Optional.of(failure);
  }

  @Override
  public Pipe spawn(List<String> arguments) throws IOException {
    if (closed.isPresent()) {
      throw new GpushException(closed.get());
    }
    var command = new ArrayList<>(List.of("/usr/bin/env"));
    command.addAll(arguments);
    return ChildPipe.start(
        command,
        Map.of(
            "PATH",
            folder + ":/usr/bin:/bin",
            "HOME",
            folder.toString(),
            "SQUEUE_PARTITION",
            "other"));
  }

  @Override
  public void close() {
    tasks.close();
  }
}
