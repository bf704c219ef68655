package dev.gpush.core.run;

import dev.gpush.core.fabric.CheckLevel;
import dev.gpush.core.fabric.CheckReport;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.Samples;
import dev.gpush.core.session.Outlook;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.session.Sessions.Came;
import dev.gpush.core.session.Sessions.Ended;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Streams;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.ChangeSignal;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** Runs and commands on a session, for the shell. */
public interface Runs {
  /**
   * Launches on the target's session, which is used as it is when it is ready. Makes one if there
   * is none, and another one if it turns out to be gone. Syncs, resolves Python, claims slots,
   * starts all nodes or none, and returns as soon as all have started.
   *
   * <p>A command that can never be launched from this folder is refused before anything is reserved
   * for it. A session that was made for this run is given back when the launch fails: nothing runs
   * on it, and the user did not ask for nodes without a run.
   *
   * @param events called on the calling thread when something happens to the session
   * @throws dev.gpush.core.failure.GpushException also {@code Differs}: a run takes part of the
   *     existing session, never more
   */
  RunView launch(RunTarget target, RunRequest request, Consumer<LaunchEvent> events, Talk talk)
      throws InterruptedException;

  /** As above, on this session and on no other. */
  RunView launch(SessionName session, RunRequest request, Talk talk) throws InterruptedException;

  /**
   * What {@link #launch} would do now, or the failure that it would have, as far as both can be
   * known. The nodes are asked what they have; nothing is made, sent or started.
   */
  Preview preview(RunTarget target, RunRequest request, Talk talk) throws InterruptedException;

  /**
   * Waits until all nodes have files that are newer than a generation, and then ends the run if it
   * is still in progress. What is saved in the workspace meanwhile is brought to the nodes; several
   * saves within a moment are one, and files that the sync ignores are none. Never asks: what needs
   * an answer is a failure, and is tried again like any other.
   *
   * @param request of the run
   * @throws dev.gpush.core.failure.GpushException when the session has ended
   */
  SavedFiles awaitSave(
      SessionName session, int run, RunRequest request, long generation, SaveListener listener)
      throws InterruptedException;

  List<RunView> list(SessionName session);

  /** What differed between two runs; empty: nothing that is recorded. */
  List<RunDifference> differences(SessionName session, int first, int second);

  /**
   * The plan of the network that ranks on all nodes of the session would get now. Nothing is
   * launched.
   *
   * @param environment variables over those of the configuration and of the command
   */
  FabricPlan plan(
      SessionName session, RunRequest.Command command, List<UserVariable> environment, Talk talk)
      throws InterruptedException;

  /** Checks the nodes of the session; nothing is launched that stays. */
  CheckReport check(
      SessionName session,
      RunRequest.Command command,
      List<UserVariable> environment,
      CheckLevel level,
      Talk talk)
      throws InterruptedException;

  /**
   * What is wrong with the nodes of a session that has just been made, as far as they say it within
   * two seconds. Never fails: what could not be asked is left out.
   */
  List<FabricFinding> problems(SessionName session, RunRequest.Command command, Talk talk)
      throws InterruptedException;

  /** By number, or the newest when empty. */
  RunView find(SessionName session, Optional<Integer> run);

  /**
   * Gives the output of a run.
   *
   * @return the exit status of the run: of the earliest failing rank, 128 + n for a signal; empty
   *     when not ended
   */
  Optional<Integer> follow(SessionName session, int run, LogRequest asked, RunOutput output)
      throws InterruptedException;

  /**
   * Writes what a run has printed until now into files in this folder, one for each rank.
   *
   * @return how many bytes there are
   */
  long fetch(SessionName session, int run, Path folder, Talk talk) throws InterruptedException;

  /**
   * Signals all ranks; those that stay are killed after the grace. Returns when the run has ended.
   */
  RunView stop(SessionName session, int run, String signal, Duration grace, Talk talk)
      throws InterruptedException;

  /**
   * Runs a command on several nodes, without input.
   *
   * @param output gets the lines, with the node in place of the rank
   * @return the first exit status that is not 0
   */
  int exec(
      SessionName session,
      List<Integer> nodes,
      List<String> words,
      Map<String, String> environment,
      RunOutput output)
      throws InterruptedException;

  /**
   * Runs a command on a node with these streams.
   *
   * @param tty a remote terminal of the client's size
   * @return the exit status of the command
   */
  int exec(
      SessionName session,
      int node,
      List<String> words,
      boolean tty,
      Map<String, String> environment,
      Streams streams)
      throws InterruptedException;

  /**
   * Starts to sample what the nodes do; nothing is sampled without that.
   *
   * @param node empty: all nodes
   * @param interval between two samples of a node
   */
  Samples sample(SessionName session, Optional<Integer> node, Duration interval);

  /**
   * Where ranks are in their code: an answer or a problem of each node, in their order. All are
   * asked at once, and for seconds only.
   *
   * @param run empty: ranks that were started by hand on the nodes
   */
  List<NodeStacks> stacks(SessionName session, Optional<Integer> run) throws InterruptedException;

  /**
   * The node's end of a copy, which reads requests from the input and writes the answers: one
   * stream of {@code gpush cp}. Returns the status with which it has ended.
   */
  int copy(SessionName session, int node, Streams streams) throws InterruptedException;

  /** What a launch would do. */
  sealed interface Preview {
    /**
     * A session would be made first; of its nodes nothing is known yet.
     *
     * @param place where, and when
     */
    record NewSession(Outlook place) implements Preview {}

    /**
     * The session is there.
     *
     * @param files what would be brought to its nodes first
     * @param setup commands that would run there first, where they have not or where what they
     *     depend on has changed
     */
    record Ready(SessionName session, SyncView.Preview files, List<String> setup, Launch launch)
        implements Preview {
      public Ready {
        setup = List.copyOf(setup);
      }
    }

    /**
     * What would start.
     *
     * @param header the run's first line
     * @param starts in the order of ranks
     * @param waits the runs that have what it claims, for whose end it would wait
     * @param network empty where it starts no ranks
     */
    record Launch(
        String header, List<Start> starts, List<String> waits, Optional<FabricPlan> network) {
      public Launch {
        starts = List.copyOf(starts);
        waits = List.copyOf(waits);
      }
    }

    /**
     * What one node would start.
     *
     * @param command as it could be typed there; empty: node 0 starts what runs here
     */
    record Start(int node, List<String> slots, int ranks, String command) {
      public Start {
        slots = List.copyOf(slots);
      }
    }
  }

  /** For a terminal that shows what changes while nobody types a command. */
  Pictures pictures();

  /** Sessions and their runs as they are now, at a cost that allows ten looks a second. */
  interface Pictures {
    /** Signalled after each change of any session. */
    ChangeSignal changes();

    /**
     * The session that {@link Sessions#choose} finds, or none. Asks a node a few times a minute at
     * most.
     */
    Picture of(Optional<String> name, Path folder);
  }

  /**
   * All that a terminal shows by itself.
   *
   * @param runs in progress and ended ones, the newest first
   * @param came what came home from node 0 by itself
   * @param ended sessions of this gateway, the newest first; not all of them
   * @param sizes how many nodes each session of this gateway has, by its name; 0: none yet
   */
  record Picture(
      Optional<SessionView> session,
      List<RunView> runs,
      Came came,
      List<Ended> ended,
      Map<String, Integer> sizes) {
    public Picture {
      runs = List.copyOf(runs);
      ended = List.copyOf(ended);
      sizes = Map.copyOf(sizes);
    }

    public Picture(
        Optional<SessionView> session, List<RunView> runs, Came came, List<Ended> ended) {
      this(session, runs, came, ended, Map.of());
    }
  }
}
