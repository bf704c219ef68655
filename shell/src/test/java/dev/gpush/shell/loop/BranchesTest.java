package dev.gpush.shell.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BranchesTest {
  private static final List<String> AUTHOR =
      List.of("-c", "user.name=ann", "-c", "user.email=ann@example.com");

  @TempDir private Path folder;

  @Test
  void areThoseOfTheRepositoryAround() throws Exception {
    git(folder, "init", "--quiet", "--initial-branch=main");
    git(folder, "commit", "--quiet", "--allow-empty", "--message=one");
    git(folder, "branch", "feature/packed");
    git(folder, "pack-refs", "--all");
    git(folder, "branch", "fix");
    git(folder, "update-ref", "refs/remotes/origin/feature/far", "main");
    git(folder, "worktree", "add", "--quiet", "beside", "fix");
    Path inside = Path.of("beside");

    Set<String> all = Set.of("feature/packed", "fix", "main", "origin/feature/far");
    assertEquals(all, meant(Path.of(""), "!git", "switch", ""));
    assertEquals(all, meant(inside, "!", "git", "log", ""));
    assertEquals(Set.of("feature/packed", "fix"), meant(inside, "@0-3", "git", "switch", "f"));
    assertEquals(Set.of(), meant(inside, "!git", "status", ""));
    assertEquals(Set.of(), meant(inside, "!git", "sw"));
    assertEquals(Set.of(), meant(inside, "!cat", "switch", ""));
  }

  @Test
  void withoutARepositoryThereAreNone() {
    assertEquals(Set.of(), Branches.meant(List.of("!git", "switch", ""), folder));
  }

  private Set<String> meant(Path inside, String... words) {
    return Branches.meant(List.of(words), folder.resolve(inside));
  }

  private static void git(Path folder, String... words) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("git"));
    command.addAll(AUTHOR);
    command.addAll(List.of(words));
    var builder = new ProcessBuilder(command).directory(folder.toFile()).inheritIO();
    builder.environment().put("GIT_CONFIG_GLOBAL", "/dev/null");
    assertEquals(0, builder.start().waitFor(), command::toString);
  }
}
