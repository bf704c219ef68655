package dev.gpush.shell.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each reason as its sentence. */
final class RunFailureTextTest {
  private static RunFailure failure(String facts, List<Integer> same) {
    return new RunFailure(
        2,
        new RunFailure.Where(1, "gpu2", true, Optional.of("0")),
        Optional.of(1),
        Optional.empty(),
        (Json.Obj) Json.parse(facts),
        same,
        List.of());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"code":"exception","type":"a.b.BadError","message":"no"} | BadError: no
          {"code":"cuda","type":"torch.AcceleratorError","message":"CUDA error: device-side assert triggered","xids":[{"xid":43,"gpu":"0000:00:06","text":"channel 0x0000000a"}]} | AcceleratorError: CUDA error: device-side assert triggered; Xid 43 of GPU 0000:00:06 (mostly the program's error): channel 0x0000000a
          {"code":"cuda","type":"RuntimeError","message":"CUDA error: ECC","xids":[{"xid":79,"gpu":"0000:3b:00","text":"GPU has fallen off the bus."}]} | RuntimeError: CUDA error: ECC; Xid 79 of GPU 0000:3b:00: GPU has fallen off the bus.
          {"code":"cuda-memory","type":"torch.OutOfMemoryError","message":"CUDA out of memory."} | OutOfMemoryError: CUDA out of memory.
          {"code":"memory","scope":"cgroup","limit":100000000,"process":"python3"} | out of memory: the kernel killed python3 at the limit of 100 MB of its cgroup
          {"code":"memory","scope":"machine"} | out of memory: the kernel killed it because the machine had none left
          {"code":"memory","scope":"unknown"} | out of memory: the kernel killed it
          {"code":"shared-memory","size":64000000} | bus error: /dev/shm is full (64 MB)
          {"code":"disk-full","path":"/scratch","message":"m"} | no space left in /scratch
          {"code":"disk-full","quota":true,"message":"[Errno 122]"} | the disk quota is used up: [Errno 122]
          {"code":"collective-timeout","by":"nccl","operation":"allreduce","ms":600000} | NCCL timeout: allreduce waited 10m for another rank
          {"code":"collective-timeout","by":"gloo","ms":2000} | gloo timeout: a collective waited 2s for another rank
          {"code":"rendezvous","joined":1,"expected":2,"ms":60000} | the ranks did not meet within 1m: 1 of 2 came
          {"code":"rendezvous","address":"10.0.0.1","port":29500} | the ranks did not meet: no answer from 10.0.0.1:29500
          {"code":"peer","type":"RuntimeError","message":"Connection closed by peer"} | lost its connection to another rank: RuntimeError: Connection closed by peer
          {"code":"signal","signal":6,"message":"free(): invalid pointer"} | ended by SIGABRT: free(): invalid pointer
          {"code":"signal","signal":11} | ended by SIGSEGV (segmentation fault)
          {"code":"exit","exit":1,"last":"giving up"} | exit status 1
          {} | exit status 1
          {"code":"newer"} | newer
          """)
  void everyReasonIsASentence(String facts, String brief) {
    assertEquals(
        "rank 2 (gpu2, GPU 0) failed first: " + brief,
        new RunFailureText(failure(facts, List.of())).line());
  }

  @Test
  void aRankOfMpiHasNoNode() {
    assertEquals(
        "rank 5 of MPI failed first: exit status 1",
        new RunFailureText(
                failure("{\"code\": \"exit\", \"of_rank\": 5, \"mpi\": true}", List.of()))
            .line());
  }

  @Test
  void theUsersOwnLineAndTheRanksThatFailedAlike() {
    String facts =
        "{\"code\": \"import\", \"type\": \"ModuleNotFoundError\", \"message\": \"No module named"
            + " 'boto3'\", \"frame\": {\"file\": \"trainer.py\", \"line\": 16}}";

    assertEquals(
        "rank 2 (gpu2, GPU 0) failed first: ModuleNotFoundError: No module named 'boto3'"
            + " (trainer.py:16); ranks 0, 1, 3 the same",
        new RunFailureText(failure(facts, List.of(0, 1, 3))).line());
    assertEquals(
        "; ranks 0-4, 9 the same",
        new RunFailureText(failure(facts, List.of(0, 1, 2, 3, 4, 9)))
            .line()
            .replaceFirst("^[^;]*", ""));
  }

  @Test
  void nodesOnOneHostHaveTheirNumber() {
    var where = new RunFailure.Where(3, "box", false, Optional.empty());
    var failure =
        new RunFailure(
            -1, where, Optional.of(1), Optional.empty(), Json.object(), List.of(), List.of());

    assertEquals(
        "the launcher (node 3 on box) failed first: exit status 1",
        new RunFailureText(failure).line());
  }

  @Test
  void lostNodesAndWhatIsLeft() {
    var where = new RunFailure.Where(1, "gpu2", true, Optional.empty());
    Json left =
        Json.parse(
            """
            {"node": 1, "host": "gpu2",
             "processes": [{"pid": 7, "name": "python3", "user": "me"}],
             "port": {"port": 4001, "pid": 8, "name": "x", "user": "eve"},
             "gpus": [{"gpu": "00000000:3B:00.0", "pid": 9, "name": "vllm", "mb": 1024}],
             "shm": {"removed": 1, "files": 2, "bytes": 8192}}
            """);
    var failure =
        new RunFailure(
            -1,
            where,
            Optional.empty(),
            Optional.empty(),
            Json.object("code", "node-lost", "what", "node"),
            List.of(),
            List.of(left));

    assertEquals(
        """
        gpush: node 1 (gpu2) was lost, and the run with it
          left on gpu2: python3 (pid 7 of me), which SIGKILL does not end
          left on gpu2: port 4001, held by x (pid 8 of eve)
          left on gpu2: 1024 MB of GPU 00000000:3B:00.0, held by vllm (pid 9)
          left on gpu2: 2 files in /dev/shm, 8.2 kB, used by nobody
        """,
        new String(
            new RunFailureText(failure).bytes(Look.plain()),
            java.nio.charset.StandardCharsets.UTF_8));
  }
}
