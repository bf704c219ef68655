package dev.gpush.control.client;

import dev.gpush.control.place.HomeFolder;
import dev.gpush.control.place.Origin;
import dev.gpush.core.file.LogRotation;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A gateway process being started: it belongs to no terminal, its output goes to the log, and it
 * inherits little.
 */
final class GatewayLaunch {
  /**
   * A log smaller than this is continued: a gateway that dies at once must not push the useful logs
   * out.
   */
  private static final long ROTATE_BYTES = 256 * 1024;

  /** Enough for the reason of a failed start, little enough to print. */
  private static final int TAIL_BYTES = 2000;

  /** A failure in the three parts that users see, at the end of the log. */
  private static final Pattern OWN_WORDS =
      Pattern.compile("(?s)(?:^|\n)gpush: ([^\n]+)\n  because (.+)\n  try: ([^\n]+)$");

  private static final List<Path> HOMEBREW =
      List.of(Path.of("/opt/homebrew/bin"), Path.of("/usr/local/bin"));

  private final Process process;
  private final Path log;
  private final long logStart;

  private GatewayLaunch(Process process, Path log, long logStart) {
    this.process = process;
    this.log = log;
    this.logStart = logStart;
  }

  static Path log(Path home) {
    return home.resolve("logs").resolve("gateway.log");
  }

  /** The home and its log folder, for this user alone. */
  static void makeHome(Path home) throws IOException {
    HomeFolder.make(home);
    Files.createDirectories(home.resolve("logs"));
  }

  static GatewayLaunch start(Origin origin) throws IOException {
    Path log = log(origin.home());
    if (Files.exists(log) && Files.size(log) >= ROTATE_BYTES) {
      LogRotation.rotate(log);
    }
    long logStart = Files.exists(log) ? Files.size(log) : 0;
    var builder =
        new ProcessBuilder(origin.gateway())
            .directory(origin.home().toFile())
            .redirectInput(Redirect.from(new File("/dev/null")))
            .redirectOutput(Redirect.appendTo(log.toFile()))
            .redirectErrorStream(true);
    keepOnly(builder.environment());
    builder.environment().computeIfPresent("PATH", (_, path) -> path(path, HOMEBREW));
    builder.environment().put("GPUSH_HOME", origin.home().toString());
    // An agent ends what detached from its terminals, unless it has another mark.
    builder.environment().put("GPUSH_AGENT", "gateway");
    return new GatewayLaunch(builder.start(), log, logStart);
  }

  /** Whether the process ended because there was a gateway. */
  boolean foundAnother() {
    return !process.isAlive() && process.exitValue() == 0;
  }

  /** Whether the process ended with a failure. */
  boolean hasFailed() {
    return !process.isAlive() && process.exitValue() != 0;
  }

  /** Why the process ended: in its own three parts if it had them, else its last output. */
  ClientException failure() {
    String said = tail();
    Matcher own = OWN_WORDS.matcher(said);
    if (own.find()) {
      return ClientException.environment(own.group(1), own.group(2), own.group(3));
    }
    String end = "its process ended with status " + process.exitValue();
    return ClientException.environment(
        "cannot start the gateway",
        said.isEmpty() ? end : end + ":\n    " + said.replace("\n", "\n    "),
        "less " + log);
  }

  /**
   * The gateway outlives the terminal that started it, so nothing of that terminal, its virtual
   * environment or its library paths may remain in it: commands bring their own environment. Kept
   * are the variables that name the user, the locale, the proxies and which of the user's accounts
   * a login program of kubectl takes; no secret.
   */
  private static void keepOnly(Map<String, String> environment) {
    environment.keySet().removeIf(name -> !isKept(name));
  }

  /**
   * Programs that a desktop of macOS starts, such as an editor whose ssh wakes the gateway, have a
   * PATH without these, where the login programs of kubectl are.
   */
  static String path(String path, List<Path> homebrew) {
    List<String> known = List.of(path.split(":", -1));
    return homebrew.stream()
        .filter(folder -> Files.isExecutable(folder.resolve("brew")))
        .map(Path::toString)
        .filter(folder -> !known.contains(folder))
        .reduce(path, (before, folder) -> before + ":" + folder);
  }

  static boolean isKept(String name) {
    return switch (name) {
      case "HOME",
          "USER",
          "LOGNAME",
          "SHELL",
          "PATH",
          "LANG",
          "TZ",
          "SSH_AUTH_SOCK",
          "SSH_SK_PROVIDER",
          "KUBECONFIG",
          "WSL_DISTRO_NAME" ->
          true;
      case "KRB5CCNAME", "SSL_CERT_FILE", "SSL_CERT_DIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME" ->
          true;
      case "AWS_PROFILE",
          "AWS_DEFAULT_PROFILE",
          "AWS_CONFIG_FILE",
          "AWS_SHARED_CREDENTIALS_FILE",
          "AWS_REGION",
          "AWS_DEFAULT_REGION",
          "AWS_CA_BUNDLE",
          "AWS_ROLE_ARN",
          "AWS_WEB_IDENTITY_TOKEN_FILE",
          "CLOUDSDK_CONFIG",
          "CLOUDSDK_ACTIVE_CONFIG_NAME",
          "GOOGLE_APPLICATION_CREDENTIALS",
          "USE_GKE_GCLOUD_AUTH_PLUGIN",
          "AZURE_CONFIG_DIR" ->
          true;
      case "GPUSH_SESSION" -> false;
      default ->
          name.startsWith("LC_")
              || name.startsWith("GPUSH_")
              || name.toLowerCase(java.util.Locale.ROOT).endsWith("_proxy");
    };
  }

  private String tail() {
    try (var file = new RandomAccessFile(log.toFile(), "r")) {
      long from = Math.max(logStart, file.length() - TAIL_BYTES);
      file.seek(Math.min(from, file.length()));
      byte[] bytes = new byte[(int) (file.length() - file.getFilePointer())];
      file.readFully(bytes);
      return new String(bytes, StandardCharsets.UTF_8)
          .replaceAll("[\\p{Cntrl}&&[^\\n]]", "")
          .strip();
    } catch (IOException unreadable) {
      return "";
    }
  }
}
