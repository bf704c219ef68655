package dev.gpush.launch.plan;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.text.Resource;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The text that runs on the nodes, without nodes. */
final class FirstNodeStepTest {
  @TempDir private Path folder;

  /** Its thread begins only after the stop was read. */
  private static final String EARLY_STOP =
      """
      told, ended = threading.Event(), threading.Event()

      class Node0:
          messages = [
              {"op": "start", "id": 1, "argv": ["touch", "ran"], "env": {}, "gone": [], "given": {}, "cwd": os.getcwd(),
               "workspace": "", "back": False, "counts": {"1": 1}, "tasks": False},
              {"op": "stop", "id": 1}]

          def read(self):
              if self.messages:
                  return self.messages.pop(0)
              told.set()
              ended.wait()
              return {"op": "over", "status": 0}

          def send(self, **message):
              if message["op"] == "end":
                  ended.set()

      class Late(Follower):
          def step(self, *arguments):
              told.wait()
              super().step(*arguments)

          def meet(self):
              return Node0()

      os.environ.update(GPUSH_GANG_KEY="k", GPUSH_NODE="1")
      print(Late().run(), os.path.exists("ran"))
      """;

  private static final String FEW_DESCRIPTORS =
      """
      import queue
      came = queue.Queue()

      class Connection:
          def __init__(self, name):
              self.name = name

          def close(self):
              came.put(self.name + " closed")

      class Server:
          outcomes = [OSError("Too many open files"), Connection("one"), Connection("two")]

          def fileno(self):
              return 3 if self.outcomes else -1

          def accept(self):
              outcome = self.outcomes.pop(0)
              if isinstance(outcome, Exception):
                  raise outcome
              return outcome, None

      class Thread(threading.Thread):
          failures = [RuntimeError("can't start new thread")]

          def start(self):
              if self.failures:
                  raise self.failures.pop()
              super().start()

      threading.Thread = Thread
      Leader.accept(Server(), lambda sock: came.put(sock.name + " served"))
      print(*(came.get(timeout=60) for _ in range(2)), sep=", ")
      """;

  /** Node 1 proves the key; the others only connect. */
  private static final String UNPROVEN =
      """
      os.environ.update(GPUSH_GANG_KEY="k", GPUSH_NODES="2")
      tempfile.tempdir = os.getcwd()
      leader = Leader({})

      def connected():
          here, there = socket.socketpair()
          threading.Thread(target=leader.meet, args=(there,), daemon=True).start()
          return here, json.loads(here.recv(1000).decode())["nonce"]

      def isCut(here):
          here.setblocking(False)
          try:
              return here.recv(1) == b""
          except BlockingIOError:
              return False

      node, nonce = connected()
      node.sendall((json.dumps({"node": 1, "nonce": "n", "proof": proof("k", "node 1 " + nonce)}) + "\\n").encode())
      node.recv(1000)
      others = [connected()[0] for _ in range(UNPROVEN + 2 + 1)]
      print(isCut(node), isCut(others[0]), isCut(others[1]))
      """;

  /** One that hangs up before it is greeted, and some that say what is no proof. */
  private static final String NO_NODES =
      """

      os.environ.update(GPUSH_GANG_KEY="k", GPUSH_NODES="2")
      tempfile.tempdir = os.getcwd()
      leader = Leader({})

      def meets(said):
          here, there = socket.socketpair()
          if said is None:
              here.close()
          else:
              here.sendall(said + b"\\n")
          try:
              leader.meet(there)
          except Exception as error:
              print(repr(error))

      for said in (None, b"[1]", b"[" * 1000, json.dumps({"node": 1, "proof": chr(233)}).encode(), b"\\xff"):
          meets(said)
      print(len(leader.unproven), leader.followers)
      """;

  private static final String NAMED =
      """

      with open("/proc/self/comm", "wb") as file:
          file.write(b"caf\\xc3")
      print(alive(os.getpgrp()), alive(1 << 30))
      """;

  private String said(String test) throws Exception {
    String text = Resource.text(FirstNodeCommand.class, "gang.py") + test;
    Process process =
        new ProcessBuilder("python3", "-c", text)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .start();
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  @Test
  void aStopBeforeTheProcessesAreStartedIsNotLost() throws Exception {
    assertEquals("0 False\n", said(EARLY_STOP));
  }

  @Test
  void aProcessOfRayIsFoundWhateverOthersAreCalled() throws Exception {
    assertEquals("True False\n", said(Resource.text(FirstNodeCommand.class, "ray.py") + NAMED));
  }

  @Test
  void ofManyConnectionsWithoutAProofTheOldestIsCut() throws Exception {
    assertEquals("False True False\n", said(UNPROVEN));
  }

  /** It was a traceback in the output of the run. */
  @Test
  void aConnectionThatHangsUpOrSendsNoProofIsClosedQuietly() throws Exception {
    assertEquals("0 {}\n", said(NO_NODES));
  }

  @Test
  void commandsAreServedAfterAFailureToAcceptOne() throws Exception {
    assertEquals("one closed, two served\n", said(FEW_DESCRIPTORS));
  }
}
