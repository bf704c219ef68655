package dev.gpush.testkit.contract;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.gang.Requester;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/** A real or simulated place for one test of {@link BackendContract}; closing it leaves nothing. */
public interface BackendPlace extends AutoCloseable {
  /** The owner of every request made here. */
  String OWNER = "alice";

  Duration POLL_PAUSE = Duration.ofMillis(50);

  Backend backend();

  /** Another object for the same place and owner, as a second process would have it. */
  Backend again();

  /**
   * A fresh gang id, {@link #OWNER}, and per node the fewest slots for which two gangs can compete.
   */
  GangRequest request(int nodes, LeaseTerms lease);

  /** A request of {@link #OWNER} for a new gang. */
  static GangRequest fresh(
      SecureRandom random,
      int nodes,
      String gpus,
      LeaseTerms lease,
      Map<String, String> environment) {
    return GangRequest.of(
            GangId.random(random),
            new Requester(OWNER, "home@here", "devbox", "project"),
            nodes,
            GpuRequest.parse(gpus),
            lease)
        .with(new GangRequest.Variables(environment, Map.of()));
  }

  /** How many nodes of such requests fit at once; at least 4. */
  int capacity();

  /** One that can never fit. */
  GangRequest never();

  /** Unique names of a node's slots: two gangs must never have the same. */
  List<String> slots(NodeInfo node);

  /**
   * How long a lease is that a test waits for; a shorter one than a loaded machine needs is
   * doubled.
   */
  default Duration shortLease() {
    return Duration.ofSeconds(2);
  }

  /** Ends what holds the node, as kill -9 or a power cut would; returns when it is dead. */
  void kill(Gang gang, int node) throws Exception;

  /**
   * Processes, locks and files of any gang that was asked for here, in words; empty when all is
   * gone.
   */
  List<String> leftovers() throws Exception;

  /** The text of a file on the node; it is read after the release, without the backend. */
  String read(Gang gang, int node, String path) throws Exception;

  /** Called between two looks of a test that waits: a pause, or simulated time passes. */
  default void onPoll() {
    LockSupport.parkNanos(POLL_PAUSE.toNanos());
  }

  @Override
  void close() throws IOException;
}
