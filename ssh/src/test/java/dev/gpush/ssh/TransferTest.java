package dev.gpush.ssh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The programs that move files over ssh. */
class TransferTest {
  private static SshGatewayFixture rig;
  private static Path here;
  private static Path there;
  private static byte[] content;

  @BeforeAll
  static void starts() throws Exception {
    rig = new SshGatewayFixture();
    here = Files.createDirectories(rig.folder().resolve("here"));
    there = Files.createDirectories(rig.folder().resolve("there"));
    content = new byte[3_000_000];
    new Random(5).nextBytes(content);
    Files.write(here.resolve("file"), content);
    Files.write(there.resolve("file"), content);
  }

  @AfterAll
  static void ends() throws Exception {
    rig.close();
  }

  private static void succeeds(Command command) throws Exception {
    var result = command.run();
    assertEquals(0, result.status(), result.text() + result.errors());
  }

  private static boolean hasProgram(String name) {
    return Stream.of(System.getenv("PATH").split(":"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, name)));
  }

  private static Path copied(Path folder, String name) throws IOException {
    Path file = folder.resolve(name);
    assertArrayEquals(content, Files.readAllBytes(file));
    return file;
  }

  @Test
  void movesFilesWithSftp() throws Exception {
    String batch =
        """
        put "%1$s/file" "%2$s/by sftp"
        get "%2$s/file" "%1$s/by sftp"
        rename "%2$s/by sftp" "%2$s/renamed"
        chmod 600 "%2$s/renamed"
        ls -l "%2$s"
        """
            .formatted(here, there);

    var result = rig.client("sftp", "-q", "-b", "-", "devbox").input(batch).run();

    assertEquals(0, result.status(), result.errors());
    copied(there, "renamed");
    copied(here, "by sftp");
  }

  @Test
  void movesFilesWithScp() throws Exception {
    succeeds(rig.client("scp", "-q", here + "/file", "devbox:" + there + "/by scp"));
    succeeds(rig.client("scp", "-q", "devbox:" + there + "/file", here + "/by scp"));

    copied(there, "by scp");
    copied(here, "by scp");
  }

  @Test
  void movesFilesWithTheOldScp() throws Exception {
    String remote = "devbox:'" + there;
    succeeds(rig.client("scp", "-O", "-q", here + "/file", remote + "/by old scp'"));
    succeeds(rig.client("scp", "-O", "-T", "-q", remote + "/file'", here + "/by old scp"));

    copied(there, "by old scp");
    copied(here, "by old scp");
  }

  @Test
  void mirrorsFoldersWithRsync() throws Exception {
    assumeTrue(hasProgram("rsync"), "rsync is not installed");
    Path source = Files.createDirectories(here.resolve("tree/deep"));
    Path target = Files.createDirectories(there.resolve("tree"));
    Files.write(source.resolve("file"), content);
    Files.writeString(target.resolve("stale"), "must go");
    String ssh = "ssh -F '" + rig.home().resolve("ssh_config") + "'";

    succeeds(
        new Command(
            List.of(
                "rsync", "-a", "--delete", "-s", "-e", ssh, here + "/tree/", "devbox:" + target),
            rig.folder()));

    copied(target, "deep/file");
    assertFalse(Files.exists(target.resolve("stale")));
  }

  @Test
  void clonesWithGit() throws Exception {
    assumeTrue(hasProgram("git"), "git is not installed");
    Path repository = there.resolve("repository.git");
    Path clone = here.resolve("clone");
    String ssh = "ssh -F '" + rig.home().resolve("ssh_config") + "'";
    String script =
        """
        set -e
        git init -q --bare "$1"
        export GIT_SSH_COMMAND="$3"
        git clone -q "devbox:$1" "$2" 2>/dev/null
        cd "$2"
        git -c user.name=me -c user.email=me@here commit -q --allow-empty -m first
        git push -q origin HEAD:main
        git ls-remote origin main | cut -f 2
        """;

    var result =
        new Command(
                List.of("bash", "-c", script, "bash", repository + "", clone + "", ssh),
                rig.folder())
            .run();

    assertEquals("refs/heads/main\n", result.text(), result.errors());
  }
}
