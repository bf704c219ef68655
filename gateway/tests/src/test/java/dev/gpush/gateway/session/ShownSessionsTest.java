package dev.gpush.gateway.session;

import static dev.gpush.gateway.session.SessionRig.DEVBOX;
import static dev.gpush.gateway.session.SessionRig.ask;
import static dev.gpush.gateway.session.SessionRig.awaitSettled;
import static dev.gpush.gateway.session.SessionRig.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities.Logins;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions.Finding;
import dev.gpush.core.session.UpRequest;
import dev.gpush.core.talk.Person;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.testkit.fixture.Asked;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What ps, nodes and doctor say of sessions is what is so. */
@Execution(ExecutionMode.CONCURRENT)
final class ShownSessionsTest {
  @Test
  void theGenerationIsKnownAfterATakeover() throws Exception {
    try (var rig = SessionRig.calm()) {
      Path project = rig.project("project");
      GatewaySessions first = rig.gateway();
      first.up(ask(project, 2), Talk.silent());
      Files.writeString(project.resolve("more.py"), "2");
      long synced = first.sync(DEVBOX, false, Talk.silent());
      first.close();

      GatewaySessions next = rig.gateway();
      next.recover();
      awaitSettled(next);

      SessionView view = next.list().getFirst();
      assertEquals(Optional.of(synced), view.generation());
      assertEquals(
          List.of(Optional.of(synced), Optional.of(synced)),
          view.nodes().stream().map(node -> node.generation()).toList());
    }
  }

  @Test
  void aSessionThatWaitsShowsWhatItHasAskedFor() throws Exception {
    try (var rig = SessionRig.calm()) {
      var places = new Places(rig);
      places.fill("hpc");
      GatewaySessions gateway = rig.gateway(List.of(places.queueing("hpc")), SessionRig.DEADLINE);
      Task<SessionView, RuntimeException> up =
          rig.tasks().fork("up", () -> gateway.up(fourNodes(places), Talk.silent()));
      until("it waits", () -> !places.site("hpc").waiting().isEmpty());

      SessionView view = gateway.list().getFirst();

      assertEquals("4×2 GPU", view.shape());
      assertEquals(4, view.size());
      assertEquals(List.of(), view.nodes());
      places.free("hpc");
      assertEquals("4×2 FAKE", up.get().shape());
      gateway.down(DEVBOX, true, Talk.silent());
      places.assertNothingHeld();
    }
  }

  @Test
  void whatWaitsForALoginSaysWhichOne() throws Exception {
    try (var rig = SessionRig.calm()) {
      var places = new Places(rig);
      places.fill("hpc");
      var login = new Login();
      Backend behindLogin = behindLogin(places.queueing("hpc"), login);
      GatewaySessions gateway = rig.gateway(List.of(behindLogin), SessionRig.DEADLINE);
      Task<SessionView, RuntimeException> up =
          rig.tasks().fork("up", () -> gateway.up(places.ask(), Talk.silent()));
      until("it waits", () -> !places.site("hpc").waiting().isEmpty());
      assertEquals(Optional.empty(), gateway.list().getFirst().status().needsLogin());
      login.isClosed.set(true);

      assertEquals(Optional.of("hpc"), gateway.list().getFirst().status().needsLogin());

      places.free("hpc");
      // Once its links are up the login is not needed, closed as it is.
      assertEquals(Optional.empty(), up.get().status().needsLogin());
      gateway.down(DEVBOX, true, Talk.silent());
      places.assertNothingHeld();
    }
  }

  /** The same backend behind one login. */
  private static Backend behindLogin(Backend real, Gate login) {
    return (Backend)
        Proxy.newProxyInstance(
            Backend.class.getClassLoader(),
            new Class<?>[] {Backend.class},
            (self, method, arguments) -> {
              if (method.getName().equals("capabilities")) {
                return real.capabilities().with(Logins.class, () -> List.of(login));
              }
              if (method.getName().equals("equals")) {
                return self == arguments[0];
              }
              try {
                return method.invoke(real, arguments);
              } catch (InvocationTargetException failed) {
                throw failed.getCause();
              }
            });
  }

  private static final class Login implements Gate {
    private final AtomicBoolean isClosed = new AtomicBoolean();

    @Override
    public String name() {
      return "login1";
    }

    @Override
    public Optional<MachineFailure> closed() {
      return isClosed.get()
          ? Optional.of(new MachineFailure.NeedsYou("login1", "hpc", "password"))
          : Optional.empty();
    }

    @Override
    public void open(Person person) {}
  }

  @Test
  void doctorSaysHowOldAnEndedSessionIs() throws Exception {
    try (var rig = SessionRig.calm()) {
      GatewaySessions gateway = rig.gateway();
      gateway.up(ask(rig.project("project"), 1), Talk.silent());
      gateway.down(DEVBOX, true, Talk.silent());

      Finding finding = gateway.doctor().getFirst();

      assertTrue(
          finding.what().matches("ended session devbox \\(made [0-9]+(s|m) ago\\)"), finding::what);
    }
  }

  @Test
  void downSaysWhichRunsItHasStopped() throws Exception {
    try (var rig = SessionRig.calm()) {
      Path project = rig.project("project");
      GatewaySessions gateway = rig.gateway();
      gateway.up(ask(project, 1), Talk.silent());
      gateway.runs().launch(DEVBOX, Asked.run(project, "sleep", "600"), Talk.silent());
      var talk = FakeTalk.answering(true);

      var end = gateway.down(DEVBOX, true, talk);

      assertEquals(List.of(1), end.stopped());
      assertTrue(
          talk.lines().getLast().matches("stopped run 1 \\(sleep, 1 rank, [0-9]+s\\)"),
          talk.lines()::toString);
      rig.assertNothingLeft(gateway);
    }
  }

  @Test
  void anotherPythonIsTakenByTheSessionThatIsThere() throws Exception {
    try (var rig = SessionRig.calm()) {
      Path project = rig.project("project");
      GatewaySessions gateway = rig.gateway();
      String id = gateway.up(withPython(project, "python3"), Talk.silent()).id();
      gateway.runs().launch(DEVBOX, Asked.run(project, "true"), Talk.silent());
      var talk = FakeTalk.answering(true);

      SessionView same = gateway.up(withPython(project, "/opt/py/bin/python"), talk);

      assertEquals(id, same.id());
      assertEquals("/opt/py/bin/python", same.work().python());
      assertEquals(
          Optional.of("/opt/py/bin/python"), rig.ledger().load().getFirst().asked().python());
      assertTrue(
          talk.lines()
              .contains(
                  "shells and runs on devbox use /opt/py/bin/python from now on, not python3; what"
                      + " is running keeps its own"),
          talk.lines()::toString);
      var again = FakeTalk.answering(true);
      gateway.up(withPython(project, "/opt/py/bin/python"), again);
      gateway.up(ask(project), again);
      assertTrue(
          again.lines().stream().noneMatch(line -> line.contains("/opt/py")),
          again.lines()::toString);
    }
  }

  @Test
  void aPythonOfTheProjectThatTheSessionDoesNotUseIsNamed() throws Exception {
    try (var rig = SessionRig.calm()) {
      Path project = rig.project("project");
      GatewaySessions gateway = rig.gateway();
      gateway.up(withPython(project, "python3"), Talk.silent());
      Files.writeString(project.resolve("gpush.yaml"), "python: /opt/py/bin/python\n");
      var talk = FakeTalk.answering(true);

      gateway.up(ask(project), talk);

      assertTrue(
          talk.lines()
              .contains(
                  "devbox was made with --python python3, and the project says"
                      + " /opt/py/bin/python; gpush up --python /opt/py/bin/python changes it"),
          talk.lines()::toString);
      assertEquals(Optional.of("python3"), rig.ledger().load().getFirst().asked().python());
    }
  }

  private static UpRequest withPython(Path project, String python) {
    UpRequest asked = ask(project, 1);
    return asked.wanting(asked.wanted().python(Optional.of(python)));
  }

  private static UpRequest fourNodes(Places places) {
    UpRequest asked = places.ask(2);
    return asked.wanting(asked.wanted().size(Optional.of(4), asked.wanted().gpus()));
  }
}
