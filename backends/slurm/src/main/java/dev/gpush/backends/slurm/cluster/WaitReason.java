package dev.gpush.backends.slurm.cluster;

import dev.gpush.backends.remote.ClusterText;

/**
 * Why a job has not started, in plain words, and whether waiting makes sense. Slurm accepts jobs
 * that can never run and lets them wait; gpush must not wait with them.
 *
 * @param isHopeless it will never start as requested
 */
public record WaitReason(String words, boolean isHopeless) {
  /**
   * Translates a reason of squeue.
   *
   * @param reason squeue's word, possibly followed by nodes or a sentence
   */
  public static WaitReason of(String reason) {
    String word = reason.split("[ ,(]", 2)[0];
    return switch (word) {
      case "", "None", "Priority", "BeginTime" -> waits(waiting(word));
      case "Resources" -> waits("it is next; nodes are not free yet");
      case "Dependency", "Singleton" -> waits("an earlier job of this session is still ending");
      case "Prolog", "Cleaning" -> waits("its nodes are being prepared");
      case "Licenses" -> waits("licenses are not free yet");
      case "SchedDefer" -> waits("the scheduler has not considered it yet");
      case "Reservation" -> waits("its reservation has not started");
      case "JobHeldUser" -> waits("it is held; release it with scontrol release");
      case "FedJobLock" -> waits("the clusters of its federation are deciding which one runs it");
      case "NvidiaImexChannels" -> waits("an NVLink domain is not free yet");
      case "ReqNodeNotAvail" -> notAvailable(reason);
      case "Nodes" -> waits("nodes that it could use are down, drained or reserved");
      case "NodeDown" -> waits("a node that it needs is down");
      case "PartitionDown" -> waits("the partition is down: it accepts jobs but starts none");
      case "PartitionInactive" -> waits("the partition is inactive");
      case "PartitionNodeLimit" -> never("the partition does not allow one job that many nodes");
      case "PartitionTimeLimit" -> never("the partition does not allow that much time");
      case "PartitionConfig" -> never("the partition does not allow this");
      case "BadConstraints" -> never("no node meets all constraints");
      case "InvalidAccount" -> never("the account does not exist or is not yours");
      case "InvalidQOS" -> never("the quality of service does not exist or is not yours");
      case "QOSNotAllowed" -> never("the partition does not allow this quality of service");
      case "AccountNotAllowed" -> never("the partition does not allow this account");
      case "DependencyNeverSatisfied" -> never("a job that it waits for has failed");
      case "AccountingPolicy" -> never("the accounting rules do not allow it");
      case "ReservationDeleted", "ResvDelHold" -> never("its reservation was deleted");
      case "ReservationInvalid" -> never("its reservation does not exist");
      case "JobHeldAdmin" -> never("an administrator holds it");
      case "JobHoldMaxRequeue", "launch" -> never("it could not be started and is held");
      case "MaxMemPerLimit" -> never("it asks for more memory than allowed");
      default -> limit(word, reason);
    };
  }

  private static String waiting(String word) {
    return switch (word) {
      case "Priority" -> "jobs with a higher priority come first";
      case "BeginTime" -> "its start time has not come";
      default -> "just submitted";
    };
  }

  private static WaitReason notAvailable(String reason) {
    String rest = reason.replaceFirst("^ReqNodeNotAvail,? *", "");
    if (rest.contains("maintenance") || rest.contains("reserved")) {
      return waits(
          "nodes are reserved from a time before its end, perhaps for maintenance; a shorter"
              + " --for may fit before that");
    }
    String nodes = rest.replaceFirst("^UnavailableNodes:", "");
    return waits(
        "nodes that it needs are down, drained or reserved"
            + (nodes.isEmpty() || nodes.equals(rest) ? "" : ": " + ClusterText.clean(nodes)));
  }

  /** The name of a limit combines its owner and its resource; there are more than a hundred. */
  private static WaitReason limit(String word, String reason) {
    if (word.matches("(QOS|Assoc)Grp.*|Max.*PerAccount")) {
      return waits("your group is at its limit (" + ClusterText.clean(word) + ")");
    }
    if (word.matches("QOSMax.*PerUser.*|QOSMaxJobs.*|AssocMaxJobs.*")) {
      return waits("you are at your limit (" + ClusterText.clean(word) + ")");
    }
    if (word.matches("(QOS|Assoc)(Max|Min).*")) {
      return never("it is outside of a limit for one job (" + ClusterText.clean(word) + ")");
    }
    // The form of older releases.
    if (word.matches("(Association|QOS)(Job|Resource|Time)Limit|QOSUsageThreshold")) {
      return waits("your account is at its limit (" + ClusterText.clean(word) + ")");
    }
    if (word.startsWith("BurstBuffer")) {
      return waits("its burst buffer is not ready");
    }
    return waits(ClusterText.clean(reason));
  }

  private static WaitReason waits(String words) {
    return new WaitReason(words, false);
  }

  private static WaitReason never(String words) {
    return new WaitReason(words, true);
  }
}
