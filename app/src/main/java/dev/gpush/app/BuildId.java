package dev.gpush.app;

/**
 * Which build this is: the version that people read, and the content hash of all jars by which two
 * processes tell whether they are the same. The launcher computes the hash when it installs the
 * jars and hands it on; a process started without it is nobody's build.
 */
public record BuildId(String version, String hash) {
  /** Of this process. */
  public static BuildId current() {
    String version = BuildId.class.getPackage().getImplementationVersion();
    return new BuildId(
        version == null ? "development" : version, System.getProperty("gpush.build", "unknown"));
  }
}
