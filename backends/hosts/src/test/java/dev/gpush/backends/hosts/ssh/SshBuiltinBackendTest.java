package dev.gpush.backends.hosts.ssh;

import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.rig.SshRig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The whole contract again, over the transport {@code builtin}. */
@ResourceLock(SshRig.NAME)
@Tag("hosts")
final class SshBuiltinBackendTest implements BackendContract {
  @Override
  public BackendPlace open() throws Exception {
    return RigPlace.builtin(SshRig.required(), "h1", "h2", "h3", "h4");
  }
}
