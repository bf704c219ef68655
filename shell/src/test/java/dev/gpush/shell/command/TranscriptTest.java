package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.Config;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.Sessions.Finding;
import dev.gpush.core.session.UpRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is typed and what comes back, to the letter. */
final class TranscriptTest {
  private final Desk desk = new Desk();

  @Test
  void upMakesASessionAndSaysWhatItIs() {
    desk.expect(
        """
        $ gpush up --nodes 2
        2> devbox: 2 cpu nodes on local in 0s; 1h idle
        2> next: gpush run train.py · gpush link, then ssh devbox
        $ gpush up --nodes 2 -q
        """);

    assertEquals(Optional.of(2), desk.sessions.asked.getFirst().wanted().nodes());
  }

  @Test
  void upAgainAttaches() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

    desk.expect(
        """
        $ gpush up
        2> devbox is there: 2 cpu nodes on local, 12m old; 48m idle
        """);
  }

  @Test
  void upDetachedSaysWhereItWaitsAndHowToLook() {
    desk.sessions.queue = Optional.of("2 of 3" + Desk.WAITS);

    desk.expect(
        """
        $ gpush up --nodes 2 --detach
        2> devbox waits on local: 2 of 3 · ≈14:20 · jobs of higher priority come first · slurm job 4711
        2> status: gpush ps · follow: gpush up · cancel: gpush down
        """);
    desk.sessions.ended.add(
        new Sessions.EndedRequest(
            new SessionName("other"),
            desk.clock.now().minus(Duration.ofMinutes(150)),
            "hpc could not provide the nodes: its job was cancelled"));

    desk.expect(
        """
        $ gpush ps
        NAME    BACKEND  SHAPE        STATE   AGE  LEASE  RUNS  FOLDER
        devbox  local    2 cpu nodes  queued  0s   -      -     ~/proj
        2> devbox is queued for 0s: 2 of 3 · ≈14:20 · jobs of higher priority come first · slurm job 4711
        2> other, requested 2h30m ago, failed: hpc could not provide the nodes: its job was cancelled
        $ gpush stop
        2> devbox is cancelled: it no longer waits for nodes
        """);
    desk.sessions.queue = Optional.empty();

    desk.expect(
        """
        $ gpush up --detach
        2> devbox: 1 cpu node on local in 0s; 1h idle
        2> next: gpush run train.py · gpush link, then ssh devbox
        """);
    assertEquals(List.of("detached", "give up devbox", "detached"), desk.sessions.calls);
  }

  @Test
  void upPassesAllOptionsOn() {
    desk.expect(
        """
        $ gpush up -q -s big --nodes 4 --gpus H100:8 --backend hpc --for 1d12h --idle 30m --python .venv --replace --discard
        """);

    var asked = desk.sessions.asked.getFirst();
    assertEquals("big", asked.name().orElseThrow().text());
    assertEquals(new GpuRequest(Optional.of("H100"), 8), asked.wanted().gpus().orElseThrow());
    assertEquals(Optional.of("hpc"), asked.wanted().backend());
    assertEquals(Optional.of(Duration.ofHours(36)), asked.lease().hardEnd());
    assertEquals(Optional.of(Duration.ofMinutes(30)), asked.lease().idle());
    assertEquals(Optional.of(".venv"), asked.wanted().python());
    assertEquals(UpRequest.Existing.REPLACE_AND_DISCARD, asked.existing());
  }

  @Test
  void upRefusesBadValues() {
    desk.expect(
        """
        $ gpush up --nodes 0
        2> gpush: --nodes cannot be '0'
        2>   because it must be a number from 1 to 256
        2>   try: gpush help up
        ? 2
        $ gpush up --nodes 100000
        2> gpush: --nodes cannot be '100000'
        2>   because it must be a number from 1 to 256
        2>   try: gpush help up
        ? 2
        $ gpush up --for 30
        2> gpush: --for cannot be '30'
        2>   because it must be numbers with units, largest first: 90s, 30m, 2h, 1d12h; at most 3650d
        2>   try: gpush help up
        ? 2
        $ gpush up -s Dev-Box
        2> gpush: session name cannot be 'Dev-Box'
        2>   because it must be 1 to 32 of a-z, 0-9 and '-', starting with a letter, not ending in a dash or a dash and digits
        2>   try: gpush help up
        ? 2
        $ gpush up --discard
        2> gpush: gpush up was not run
        2>   because --discard needs --replace
        2>   try: gpush help up
        ? 2
        """);
  }

  @Test
  void upShowsADifferenceAndHowToReplace() {
    desk.sessions.failure =
        Optional.of(
            new SessionFailure.Differs(
                "devbox", List.of(new SessionFailure.Difference("nodes", "2", "4"))));

    desk.expect(
        """
        $ gpush up --nodes 4
        2> gpush: devbox does not match this request
        2>   because nodes: it has 2, you asked for 4
        2>   try: gpush up --replace --nodes 4
        ? 1
        """);
  }

  @Test
  void upSaysWhatWouldFit() {
    desk.sessions.failure =
        Optional.of(
            new BackendFailure.NeverFits("local", "it has 2 GPUs", List.of("--nodes 1 --gpus 2")));

    desk.expect(
        """
        $ gpush up -s big --gpus=8 --nodes 4 --for 2h
        2> gpush: local can never grant this
        2>   because it has 2 GPUs; what would fit: --nodes 1 --gpus 2
        2>   try: gpush up --nodes 1 --gpus 2 -s big --for 2h
        ? 1
        """);
  }

  @Test
  void dryRunShowsWhereAndWhen() {
    desk.sessions.plans.put("local", new Plan.Never("it has no GPUs", List.of("--gpus 0")));
    desk.sessions.plans.put(
        "hpc",
        new Plan.Later("4 of 19 in the queue", Optional.of(Duration.ofMinutes(40)), List.of()));

    desk.expect(
        """
        $ gpush up --gpus H100:8 --dry-run
        BACKEND  WHEN          WHAT
        local    never         it has no GPUs; would fit: --gpus 0
        hpc      in about 40m  4 of 19 in the queue
        """);
  }

  @Test
  void psListsSessions() {
    desk.expect(
        """
        $ gpush ps
        2> no sessions; gpush up gets one
        $ gpush ps --json
        []
        """);
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.sessions.change(
        new ViewChange(
                desk.sessions.add(
                    "big", Path.of("/data/exp"), 4, new GpuRequest(Optional.of("H100"), 8)))
            .hardEnd(Optional.of(Duration.ofMinutes(312)))
            .runs(1)
            .state(SessionState.DEGRADED, "node 1 is cut")
            .view());

    desk.expect(
        """
        $ gpush ps
        NAME    BACKEND  SHAPE        STATE     AGE  LEASE            RUNS  FOLDER
        devbox  local    2 cpu nodes  ready     12m  48m idle         -     ~/proj
        big     local    4×8 H100     degraded  12m  5h12m, 48m idle  1     /data/exp
        2> big is degraded: node 1 is cut
        2> devbox: idle for 12m
        2> big: idle for 12m
        """);
  }

  @Test
  void psAsJsonHasItsPromisedFields() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.expect(
        """
        $ gpush ps --json
        [
          {
            "name": "devbox",
            "id": "1f2e",
            "state": "ready",
            "detail": "",
            "needs_you": null,
            "backend": "local",
            "gang": "00112233aabbccdd",
            "shape": "2 cpu nodes",
            "nodes": 2,
            "gpus_per_node": 0,
            "gpu_model": null,
            "folder": "/home/ann/proj",
            "owner": "ann",
            "created": "2026-11-21T09:48:00Z",
            "age_s": 720,
            "hard_end_s": null,
            "idle_end_s": 2880,
            "activity": "idle for 12m",
            "price": null,
            "cost": null,
            "generation": 1,
            "runs": 0,
            "python": "/usr/bin/python3",
            "warm": [],
            "synced": false,
            "trace": null
          }
        ]
        """);
  }

  @Test
  void nodesShowsEachNode() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.expect(
        """
        $ gpush nodes
        NODE  HOST  ADDRESS    SLOTS    CPUS  LINK  CODE  ACTIVITY  WORKSPACE
        0     lab1  127.0.0.1  0/4 cpu  8     up    G1    idle 12m  /w/0/proj
        1     lab1  127.0.0.1  0/4 cpu  8     up    G1    idle 12m  /w/1/proj
        2> all nodes are one machine and share its ports, home and /tmp
        2> python: /usr/bin/python3
        """);
  }

  @Test
  void unknownSessionsAreGuessed() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

    desk.expect(
        """
        $ gpush nodes -s devbx
        2> gpush: there is no session 'devbx'; did you mean devbox?
        2>   because you have devbox
        2>   try: gpush nodes -s devbox
        ? 2
        $ gpush exec -s devbx hostname
        2> gpush: there is no session 'devbx'; did you mean devbox?
        2>   because you have devbox
        2>   try: gpush exec -s devbox hostname
        ? 255
        """);
  }

  @Test
  void sessionComesFromTheOptionThenTheVariableThenTheFolder() {
    desk.sessions.add("devbox", Desk.PROJECT, 1, GpuRequest.none());
    desk.sessions.add("other", Path.of("/data/exp"), 1, GpuRequest.none());
    desk.environment.put("GPUSH_SESSION", "other");

    desk.expect(
        """
        $ gpush sync
        2> other has G43 on all nodes
        $ gpush sync -s devbox
        2> devbox has G43 on all nodes
        $ gpush -s devbox sync --overwrite
        2> devbox has G43 on all nodes
        """);
    desk.environment.remove("GPUSH_SESSION");
    desk.folder = Path.of("/data/exp/sub");
    desk.expect(
        """
        $ gpush sync
        2> other has G43 on all nodes
        """);
    desk.folder = Path.of("/elsewhere");
    desk.expect(
        """
        $ gpush sync
        2> gpush: it is not clear which session is meant
        2>   because this folder has none of its own; you have devbox and other
        2>   try: gpush sync -s devbox
        ? 2
        """);
  }

  @Test
  void unknownCommandsAndOptionsAreGuessed() {
    desk.expect(
        """
        $ gpush rnu train.py
        2> gpush: there is no command 'rnu'; did you mean run?
        2>   because no command has that name
        2>   try: gpush run train.py
        ? 2
        $ gpush frobnicate
        2> gpush: there is no command 'frobnicate'
        2>   because no command has a similar name
        2>   try: gpush help
        ? 2
        $ gpush up --node 2
        2> gpush: gpush up was not run
        2>   because it has no option --node; did you mean --nodes?
        2>   try: gpush help up
        ? 2
        $ gpush up --nodes
        2> gpush: gpush up was not run
        2>   because --nodes needs N
        2>   try: gpush help up
        ? 2
        $ gpush up --nodes 2 --nodes 3
        2> gpush: gpush up was not run
        2>   because --nodes is given twice
        2>   try: gpush help up
        ? 2
        $ gpush ps devbox
        2> gpush: gpush ps was not run
        2>   because it takes no argument: 'devbox'
        2>   try: gpush help ps
        ? 2
        $ gpush pull
        2> gpush: gpush pull was not run
        2>   because it needs PATH
        2>   try: gpush help pull
        ? 2
        $ gpush help rnu
        2> gpush: gpush help was not run
        2>   because there is no command 'rnu'; did you mean run?
        2>   try: gpush help run
        ? 2
        """);
  }

  @Test
  void runsAreListed() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.expect(
        """
        $ gpush runs
        2> devbox has had no runs; gpush run train.py starts one
        """);
    desk.runs.add(7, "running", Optional.empty(), "train.py", "--name", "a b");
    desk.runs.add(6, "failed", Optional.of(3), "train.py");

    desk.expect(
        """
        $ gpush runs
        RUN  STATE    EXIT  RANKS  STARTED  TOOK   CODE  COMMAND
        7    running  -     2      3m ago   3m     G42   train.py --name 'a b'
        6    failed   3     2      3m ago   1m12s  G42   train.py
        """);
  }

  @Test
  void stopEndsARunAndLeavesSessionsToDown() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.expect(
        """
        $ gpush stop
        2> gpush: gpush stop was not run
        2>   because nothing runs on devbox
        2>   try: gpush runs
        ? 2
        """);
    desk.runs.add(7, "running", Optional.empty(), "train.py");
    desk.runs.add(6, "done", Optional.of(0), "train.py");

    desk.expect(
        """
        $ gpush stop
        2> run 7 is stopped (130)
        $ gpush stop 7 --kill
        2> run 7 is stopped (130)
        $ gpush stop 6
        2> run 6 had ended already: done (0)
        $ gpush stop devbox
        2> gpush: gpush stop was not run
        2>   because devbox is a session, and gpush stop ends runs; gpush down gives a session back
        2>   try: gpush down devbox
        ? 2
        """);
    assertEquals(List.of("7 INT 10s", "7 KILL 0s"), List.copyOf(desk.runs.stops));
  }

  @Test
  void downGivesBackAndNamesWhatWasKept() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.sessions.kept = List.of("node 0: /w/0/proj/notes.txt");

    desk.expect(
        """
        $ gpush down
        2> devbox is given back
        2> kept, because gpush did not make it: node 0: /w/0/proj/notes.txt
        """);
  }

  @Test
  void yesStopsTheRunsThatDownNames() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(7, "running", Optional.empty(), "train.py");
    desk.sessions.runInProgress = Optional.of("run 7 is in progress on devbox; stop it?");
    desk.sessions.stopped = List.of(7);

    desk.expect(
        """
        $ gpush down
        2> gpush: this needs your answer, and there is no terminal to ask on
        2>   because the question is: run 7 is in progress on devbox; stop it?
        2>   try: gpush down --yes
        ? 2
        $ gpush down --yes
        2> stopped run 7
        2> devbox is given back
        """);
  }

  @Test
  void yesDoesNotDiscard() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.sessions.questionOnDown = Optional.of("3 files are only there: discard them?");

    desk.expect(
        """
        $ gpush down --yes
        2> gpush: this needs your answer, and there is no terminal to ask on
        2>   because the question is: 3 files are only there: discard them?
        2>   try: gpush down --discard --yes
        ? 2
        $ gpush down --discard
        2> devbox is given back
        """);
  }

  @Test
  void extendMovesTheEnd() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

    desk.expect(
        """
        $ gpush extend --for 2h
        2> devbox: 2h, 1h idle left
        $ gpush extend
        2> devbox: 1h idle left
        """);
  }

  @Test
  void pullIsRelativeToWhereOneStands() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.folder = Desk.PROJECT.resolve("src");
    desk.sessions.editNode = 1;

    desk.expect(
        """
        $ gpush pull --on 0 a.txt
        2> pulled a.txt from node 0
        $ gpush pull a.txt
        2> pulled a.txt from node 1
        $ gpush pull ../../secret
        2> gpush: PATH cannot be '../../secret'
        2>   because it must be a path inside the workspace /home/ann/proj
        2>   try: gpush help pull
        ? 2
        $ gpush pull --on 5 a.txt
        2> gpush: devbox has no node 5
        2>   because its nodes are numbered 0 to 1
        2>   try: gpush nodes -s devbox
        ? 1
        """);
    assertEquals(
        List.of("pull devbox 0 src/a.txt", "pull devbox 1 src/a.txt"), desk.sessions.calls);
  }

  @Test
  void execRunsOnTheNodesAskedFor() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.execStatus = 7;

    desk.expect(
        """
        $ gpush exec hostname -f --all
        n1
        ? 7
        $ gpush exec --all -- ls -l
        node 0: n1
        node 1: n1
        ? 7
        $ gpush exec --on 1 "echo hi; exit 7"
        n1
        ? 7
        $ gpush exec
        2> gpush: gpush exec was not run
        2>   because it needs a command; gpush ssh opens a shell
        2>   try: gpush help exec
        ? 255
        $ gpush exec -t top
        2> no terminal on the node, because there is none here
        n1
        ? 7
        $ gpush exec --frob top
        2> gpush: gpush exec was not run
        2>   because it has no option --frob; options of the script or command come after its name
        2>   try: gpush help exec
        ? 255
        """);
    assertEquals(
        List.of(
            "devbox 0 [hostname, -f, --all]",
            "devbox [0, 1] [ls, -l]",
            "devbox 1 [/bin/sh, -c, echo hi; exit 7]",
            "devbox 0 [top]"),
        desk.runs.execs);
  }

  @Test
  void onATerminalExecSaysOnceWhatNodesPrintAlike() {
    desk.sessions.add("devbox", Desk.PROJECT, 4, GpuRequest.none());
    FakeInvocation client = desk.client("gpush exec --on 0,2-3 hostname").withTerminal(80);

    assertEquals(0, desk.call(client));

    assertEquals("nodes 0,2,3: n1\n", client.outText());
  }

  @Test
  void execWithATerminalIsRawAndRestoresIt() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    FakeInvocation client = desk.client("gpush exec -t vim").withTerminal(80);

    assertEquals(0, desk.call(client));

    assertEquals(List.of("devbox 0 [vim] tty"), desk.runs.execs);
    assertEquals(List.of("raw", "restored"), client.raw);
  }

  @Test
  void configShowsOriginsAndMistakesWithTheirPlaces() {
    desk.expect(
        """
        $ gpush config
        SETTING            VALUE       FROM
        nodes              2           gpush.yaml:1
        lease.idle         1h          built in
        backends           local, hpc  config.yaml:3
        owner              ann         login name
        backends.hpc.kind  slurm       config.yaml:4
        2> workspace: /home/ann/proj (nearest gpush.yaml)
        """);
    desk.configFailure =
        Optional.of(
            new ConfigFailure.Invalid(
                List.of(
                    new ConfigFailure.Problem(
                        "gpush.yaml", 3, 1, "gpu", "unknown key", Optional.of("gpus")),
                    new ConfigFailure.Problem(
                        "config.yaml", 5, 8, "nodes", "is to be a number", Optional.empty()))));
    desk.expect(
        """
        $ gpush config
        2> gpush: the configuration has 2 mistakes
        2>   because gpush.yaml:3:1 gpu: unknown key, did you mean gpus?
        2>     config.yaml:5:8 nodes: is to be a number
        2>   try: gpush config
        ? 2
        """);
  }

  @Test
  void keysWithoutEffectAreNamedBeforeTheWork() {
    desk.unsupported =
        List.of(
            new Config.Unsupported("run.resume", "no run is resumed", "gpush.yaml:6"),
            new Config.Unsupported("secrets", "no secret reaches the nodes", "gpush.yaml:9"));

    desk.expect(
        """
        $ gpush up --nodes 2
        2> not supported yet, no effect: run.resume, secrets; gpush config says what happens instead
        2> devbox: 2 cpu nodes on local in 0s; 1h idle
        2> next: gpush run train.py · gpush link, then ssh devbox
        $ gpush run -q --detach train.py
        $ gpush run --detach train.py
        2> not supported yet, no effect: run.resume, secrets; gpush config says what happens instead
        2> run 7 · 2 ranks · python 3.12 · ~/proj · G42
        2> follow: gpush logs -f 7 · end: gpush stop 7
        """);
    FakeInvocation config = desk.client("gpush config");
    assertEquals(0, desk.call(config));
    assertEquals(
        List.of(
            "gpush.yaml:6 run.resume: not supported yet: no run is resumed",
            "gpush.yaml:9 secrets: not supported yet: no secret reaches the nodes"),
        config.errText().lines().skip(1).toList());
  }

  @Test
  void theRestOfTheSetUp() {
    desk.expect(
        """
        $ gpush backends
        NAME   KIND   USABLE  WHAT                           FROM
        local  local  yes     8 CPUs, no GPUs                built in
        hpc    slurm  no      no such Host in ~/.ssh/config  config.yaml:3
        $ gpush templates
        NAME   WHAT                       FROM
        local  CPU nodes on this machine  built in
        slurm  A gang on a Slurm cluster  built in
        $ gpush templates local
        nodes: 2
        $ gpush templates lcal
        2> gpush: gpush templates was not run
        2>   because there is no template 'lcal'; there is local, slurm
        2>   try: gpush templates local
        ? 2
        $ gpush link --print
        Host devbox
        $ gpush link --yes
        2> linked: ssh devbox works now
        $ gpush link --remove
        2> removed the Include line from ~/.ssh/config
        $ gpush version
        gpush 0.1.0 (build 3f9a1c)
        $ gpush --version
        gpush 0.1.0 (build 3f9a1c)
        $ gpush version --json
        {
          "version": "0.1.0",
          "build": "3f9a1c"
        }
        $ gpush completion tcsh
        2> gpush: gpush completion was not run
        2>   because SHELL must be bash, zsh or fish, not 'tcsh'
        2>   try: gpush help completion
        ? 2
        """);
  }

  @Test
  void gatewayAnswersForItself() {
    desk.expect(
        """
        $ gpush gateway
        pid        4711
        version    0.1.0
        agents     session devbox · node 0 · link up
        sessions   -
        $ gpush gateway start
        2> the gateway is running (pid 4711)
        $ gpush gateway stop
        2> the gateway is stopping; sessions and runs continue
        $ gpush gateway page
        http://127.0.0.1:4711/?token=51a0f3
        2> open it in a browser of this machine; it works once
        $ gpush gateway page --json
        {
          "url": "http://127.0.0.1:4711/?token=51a0f3"
        }
        $ gpush gateway stopp
        2> gpush: gpush gateway was not run
        2>   because ACTION must be status, start, stop, logs or page, not 'stopp'; did you mean stop?
        2>   try: gpush help gateway
        ? 2
        """);
    assertEquals(List.of("stop"), desk.gatewayCalls);
  }

  @Test
  void doctorFailsWhenSomethingIsBad() {
    desk.expect(
        """
        $ gpush doctor
        2> nothing is reserved, and nothing was left behind
        """);
    desk.sessions.findings.add(
        new Finding(
            "bad", "devbox", "2 nodes are held by nobody", Optional.of("gpush down devbox")));
    desk.expect(
        """
        $ gpush doctor
        STATUS  WHAT    FOUND
        bad     devbox  2 nodes are held by nobody
        2> devbox: try gpush down devbox
        ? 1
        """);
  }

  @Test
  void aBugIsOneLineAndTheLog() {
    desk.runs.bug = Optional.of(new IllegalStateException("two writers"));
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());

    desk.expect(
        """
        $ gpush runs
        2> gpush: this is a bug in gpush, not your mistake; what happened is in /home/ann/.gpush/logs/gateway.log
        ? 4
        """);
    assertEquals("two writers", desk.bugs.getFirst().getMessage());
  }

  @Test
  void verboseNamesTheCode() {
    desk.expect(
        """
        $ gpush nodes -v
        2> gpush: there is no session
        2>   because no folder has one yet
        2>   try: gpush up
        2>   code: usage.which-session
        ? 2
        """);
  }
}
