package dev.gpush.chaos;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import java.io.IOException;
import java.util.List;

/** A real place for gangs, and everything that happens to it. */
interface Scene extends AutoCloseable {
  /** What happens to a place, whoever looks. */
  enum Fault {
    CONTROLLER_STOPS,
    JOB_CANCELLED,
    JOB_PREEMPTED,
    NODE_DOWN,
    AGENT_KILLED,
    PIPES_CUT,
    HOST_CUT,
    HALF_TAKEN
  }

  /** For the counts: slurm, ssh, local. */
  String name();

  String gpus();

  List<Fault> faults();

  /** The place as a new gateway finds it. */
  Backend backend(Life life);

  /** A gang that somebody has begun to ask for. */
  void asked(GangRequest request);

  List<GangRequest> asked();

  /** May find nothing to happen to. */
  void strike(Fault fault, Life life) throws Exception;

  /** All that was struck works again; what is gone stays gone. */
  void heal() throws Exception;

  /** What there is of a gang, asked past gpush: jobs and agents, a word each. */
  List<String> there(GangId gang, int nodes) throws Exception;

  /** Files and locks of a gang that is not there any more. */
  List<String> leftovers(GangId gang, int nodes) throws Exception;

  @Override
  void close() throws IOException;
}
