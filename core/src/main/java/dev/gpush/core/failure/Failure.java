package dev.gpush.core.failure;

/**
 * Something went wrong that a user can act on. Each case has facts and no prose: the three-part
 * message (what failed, because, try) is made by {@link FailureText}, in an exhaustive switch. A
 * bug is not a Failure; it is an exception that reaches the top.
 */
public sealed interface Failure
    permits UsageFailure,
        ConfigFailure,
        SessionFailure,
        BackendFailure,
        MachineFailure,
        AgentFailure,
        SyncFailure,
        LaunchFailure,
        GatewayFailure {

  /** Which exit status a command gives when this ends it. */
  ExitStatus exit();

  /** As {@link #kind}, except where a failure carries the agent's code under this name. */
  default String code() {
    return kind();
  }

  /** The stable word for --json and logs: {@code usage.unknown-session}. */
  default String kind() {
    String family = getClass().getEnclosingClass().getSimpleName().replace("Failure", "");
    return kebab(family) + "." + kebab(getClass().getSimpleName());
  }

  private static String kebab(String camel) {
    return camel.replaceAll("(?<=[a-z])(?=[A-Z])", "-").toLowerCase(java.util.Locale.ROOT);
  }
}
