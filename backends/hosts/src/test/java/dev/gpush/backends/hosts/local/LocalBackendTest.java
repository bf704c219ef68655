package dev.gpush.backends.hosts.local;

import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The contract: one home, six GPUs, two per node. */
@Execution(ExecutionMode.CONCURRENT)
final class LocalBackendTest implements BackendContract {
  @TempDir private Path folder;

  @Override
  public BackendPlace open() throws Exception {
    return LocalPlace.of(6, folder.resolve("home"), folder.resolve("machine"));
  }
}
