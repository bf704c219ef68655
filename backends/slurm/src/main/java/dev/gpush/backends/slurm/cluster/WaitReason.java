package dev.gpush.backends.slurm.cluster;

import dev.gpush.backends.remote.ClusterText;

/**
 * Why a job has not started, in plain words, and whether waiting makes sense. Slurm accepts jobs
 * that can never run and lets them wait; nobody should wait with them.
 *
 * @param isHopeless it will not start as it was asked for, however long one waits
 */
public record WaitReason(String words, boolean isHopeless) {
  /**
   * In our words.
   *
   * @param reason squeue's word, possibly with nodes or a sentence behind it
   */
  public static WaitReason of(String reason) {
    String word = reason.split("[ ,(]", 2)[0];
    return switch (word) {
      case "", "None", "Priority", "BeginTime" -> waits(waiting(word));
      case "Resources" -> waits("it is next; nodes are not free yet");
      case "Dependency", "Singleton" -> waits("an earlier job of this session still ends");
      case "Prolog", "Cleaning" -> waits("its nodes are being made ready");
      case "Licenses" -> waits("licenses are not free yet");
      case "SchedDefer" -> waits("the scheduler has not looked at it yet");
      case "Reservation" -> waits("its reservation has not begun");
      case "JobHeldUser" -> waits("it is held; release it with scontrol release");
      case "FedJobLock" -> waits("the clusters of its federation settle which takes it");
      case "NvidiaImexChannels" -> waits("an NVLink domain is not free yet");
      case "ReqNodeNotAvail" -> notAvailable(reason);
      case "Nodes" -> waits("nodes that it could have are down, drained or reserved");
      case "NodeDown" -> waits("a node that it needs is down");
      case "PartitionDown" -> waits("the partition is down: it takes jobs and starts none");
      case "PartitionInactive" -> waits("the partition is switched off");
      case "PartitionNodeLimit" -> never("the partition does not give so many nodes to one job");
      case "PartitionTimeLimit" -> never("the partition does not allow so much time");
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
      case "Priority" -> "jobs with a higher claim come first";
      case "BeginTime" -> "its time to begin has not come";
      default -> "just submitted";
    };
  }

  private static WaitReason notAvailable(String reason) {
    String rest = reason.replaceFirst("^ReqNodeNotAvail,? *", "");
    if (rest.contains("maintenance") || rest.contains("reserved")) {
      return waits(
          "nodes are reserved before it would end, perhaps for maintenance; a shorter --for may"
              + " fit before");
    }
    String nodes = rest.replaceFirst("^UnavailableNodes:", "");
    return waits(
        "nodes that it needs are down, drained or reserved"
            + (nodes.isEmpty() || nodes.equals(rest) ? "" : ": " + ClusterText.clean(nodes)));
  }

  /** Limits have a name made of who is limited and what of; there are more than a hundred. */
  private static WaitReason limit(String word, String reason) {
    if (word.matches("(QOS|Assoc)Grp.*|Max.*PerAccount")) {
      return waits(
          "your group uses all that it may have at a time (" + ClusterText.clean(word) + ")");
    }
    if (word.matches("QOSMax.*PerUser.*|QOSMaxJobs.*|AssocMaxJobs.*")) {
      return waits("you use all that you may have at a time (" + ClusterText.clean(word) + ")");
    }
    if (word.matches("(QOS|Assoc)(Max|Min).*")) {
      return never("it is outside of a limit for one job (" + ClusterText.clean(word) + ")");
    }
    // As older releases say it.
    if (word.matches("(Association|QOS)(Job|Resource|Time)Limit|QOSUsageThreshold")) {
      return waits("you use all that your account may use (" + ClusterText.clean(word) + ")");
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
