package dev.gpush.ssh.files;

import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.WholeFile;
import dev.gpush.core.talk.Talk;
import dev.gpush.ssh.connection.NodeName;
import java.io.IOException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The same hosts for Windows' own ssh: an Include line in the Windows user's ssh config, and a
 * folder beside it with this home's block, key and host key. Its ssh reaches the gateway through
 * {@code wsl.exe}, so that it starts WSL and the gateway. A file in the home remembers the folder.
 *
 * @param proxy what {@code wsl.exe} runs, a script
 */
record WindowsLink(Wsl wsl, Path home, Path keyFile, HomeIdentity identity, Path proxy) {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  private static final String CONFIG = "config";
  private static final String KEY = "id_ed25519";
  private static final String KNOWN_HOSTS = "known_hosts";

  /**
   * The Windows user's folder for ssh.
   *
   * @param ssh where it is here
   */
  private record Place(Path ssh, String identity) {
    Path folder() {
      return ssh.resolve("gpush").resolve(identity);
    }
  }

  private Path memory() {
    return home.resolve("windows_link");
  }

  boolean isThere() {
    return Files.exists(memory());
  }

  void add(List<NodeName> hosts, Talk talk) {
    Place place = place();
    IncludeLine include = include(place);
    if (!include.isThere()) {
      talk.confirm(
          "Copy this home's key to "
              + place.folder()
              + ", and add one Include line to the top of "
              + place.ssh().resolve(CONFIG)
              + "?",
          "--yes");
    }
    try {
      Files.createDirectories(place.folder());
      WholeFile.write(place.folder().resolve(KEY), Files.readString(keyFile), "rw-------");
      protect(place.folder().resolve(KEY));
      WholeFile.write(memory(), place.ssh() + "\n", "rw-------");
      write(place, hosts);
    } catch (IOException failed) {
      throw unusable(place.folder(), failed);
    }
    include.addConfirmed();
    talk.say(
        "linked: Windows' own ssh now finds your sessions by name"
            + " (undo: gpush link --windows --remove)");
  }

  /** Windows' ssh takes no key that other accounts may read. */
  private void protect(Path key) throws IOException {
    String user =
        wsl.variable("USERNAME").orElseThrow(() -> new IOException("cmd.exe names no user"));
    boolean isDone =
        wsl.programs()
            .output(List.of("icacls.exe", there(key), "/inheritance:r", "/grant:r", user + ":F"))
            .isPresent();
    if (!isDone) {
      Files.deleteIfExists(key);
      throw new IOException("icacls.exe could not keep other accounts from reading " + key);
    }
  }

  /** Called whenever sessions come and go. */
  void publish(List<NodeName> hosts) {
    try {
      Optional<Place> place = remembered();
      if (place.isPresent()) {
        write(place.orElseThrow(), hosts);
      }
    } catch (IOException | GpushException unreachable) {
      LOG.log(System.Logger.Level.WARNING, "the ssh config of Windows is out of date", unreachable);
    }
  }

  private void write(Place place, List<NodeName> hosts) throws IOException {
    String folder = there(place.folder());
    var text =
        new SshConfigText(
            Path.of(folder + "/" + KEY),
            Path.of(folder + "/" + KNOWN_HOSTS),
            identity.name(),
            new SshConfigText.ByWsl(wsl.distribution(), proxy));
    String knownHost = identity.name() + " " + identity.hostKey() + "\n";
    WholeFile.write(place.folder().resolve(KNOWN_HOSTS), knownHost, "rw-------");
    WholeFile.write(place.folder().resolve(CONFIG), text.of(hosts), "rw-------");
  }

  void remove(Talk talk) {
    try {
      Optional<Place> place = remembered();
      if (place.isEmpty()) {
        talk.say("not linked: the ssh config of Windows has no line of this home");
        return;
      }
      include(place.orElseThrow()).remove(talk);
      Path folder = place.orElseThrow().folder();
      for (String name : List.of(CONFIG, KEY, KNOWN_HOSTS)) {
        Files.deleteIfExists(folder.resolve(name));
      }
      Files.deleteIfExists(folder);
      deleteIfEmpty(place.orElseThrow().ssh().resolve("gpush"));
      Files.deleteIfExists(memory());
    } catch (IOException failed) {
      throw unusable(memory(), failed);
    }
  }

  /** Another home may have its files there. */
  private static void deleteIfEmpty(Path folder) throws IOException {
    try {
      Files.deleteIfExists(folder);
    } catch (DirectoryNotEmptyException othersAreThere) {
      // They stay.
    }
  }

  private IncludeLine include(Place place) {
    return new IncludeLine(
        place.ssh().resolve(CONFIG), Path.of(there(place.folder()) + "/" + CONFIG));
  }

  private Optional<Place> remembered() throws IOException {
    try {
      String ssh = Files.readString(memory()).strip();
      return Optional.of(new Place(Path.of(ssh), identity.name()));
    } catch (NoSuchFileException notLinked) {
      return Optional.empty();
    }
  }

  private Place place() {
    Path profile =
        wsl.variable("USERPROFILE")
            .flatMap(wsl::here)
            .map(Path::of)
            .filter(Files::isDirectory)
            .orElseThrow(
                () ->
                    unusable(
                        Path.of("%USERPROFILE%"),
                        new IOException("cmd.exe and wslpath do not say where it is")));
    return new Place(profile.resolve(".ssh"), identity.name());
  }

  private String there(Path path) {
    return wsl.there(path.toString())
        .orElseThrow(
            () -> unusable(path, new IOException("wslpath does not say where Windows has it")));
  }

  private static GpushException unusable(Path path, IOException failed) {
    return new GpushException(
        new ConfigFailure.Unreadable(path.toString(), "cannot be used: " + FileReason.of(failed)),
        failed);
  }
}
