package dev.gpush.app;

/**
 * The version for users, and the content hash of all jars, by which processes compare their builds.
 * The launcher computes the hash when it installs the jars and passes it on; a process started
 * without it matches no build.
 */
public record BuildId(String version, String hash) {
  /** Of this process. */
  public static BuildId current() {
    String version = BuildId.class.getPackage().getImplementationVersion();
    return new BuildId(
        version == null ? "development" : version, System.getProperty("gpush.build", "unknown"));
  }
}
