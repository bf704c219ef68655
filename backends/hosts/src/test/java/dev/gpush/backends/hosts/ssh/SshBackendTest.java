package dev.gpush.backends.hosts.ssh;

import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import dev.gpush.testkit.rig.SshRig;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.ResourceLock;

@ResourceLock(SshRig.NAME)
@Tag("gate")
@Tag("hosts")
final class SshBackendTest implements BackendContract {
  @Override
  public BackendPlace open() throws Exception {
    return new RigPlace(SshRig.required(), "h1", "h2", "h3", "h4");
  }
}
