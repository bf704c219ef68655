package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.testkit.rig.KubernetesRig;
import dev.gpush.testkit.rig.SlurmRig;
import dev.gpush.testkit.rig.SshRig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * What an ssh client may expect of a node, with OpenSSH's own client and the same on every kind of
 * nodes. Each test has its number in docs/reference/ssh-contract.md.
 */
@Timeout(600)
@Execution(ExecutionMode.CONCURRENT)
final class SshContractIT {
  private static final int NO_PROGRAM = 77;

  /** What every script may use; {@code needs} ends it where the node lacks a program. */
  private static final String PREAMBLE =
      """
      set -eu
      ssh() { command ssh -F "$config" "$@"; }
      scp() { command scp -q -F "$config" "$@"; }
      needs() {
        for each; do
          ssh devbox "command -v $each" >/dev/null || { echo "the node has no $each" >&2; exit 77; }
        done
      }
      same() { [ "$1" = "$2" ] || { printf 'not %s but %s\\n' "$2" "$1" >&2; exit 1; }; }
      status() { set +e; "$@"; code=$?; set -e; }
      noise() { head -c "$1" /dev/urandom; }
      free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
      within() { n=0; until "$@" 2>/dev/null; do n=$((n + 1)); [ $n -lt 1200 ] || { echo "never: $*" >&2; exit 1; }; sleep 0.05; done; }
      dir=$(mktemp -d)
      # In the background: "env ssh", so that the job is ssh itself.
      trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$dir"' EXIT
      """;

  /** Says hello before its client does, then answers with what it was sent, at its end. */
  private static final String SPEAKER =
      """
      import socket, sys
      server = socket.socket()
      server.bind(("127.0.0.1", 0))
      server.listen(20)
      print(server.getsockname()[1], flush=True)
      while True:
          client = server.accept()[0]
          client.sendall(b"hello ")
          data = b""
          part = client.recv(65536)
          while part:
              data += part
              part = client.recv(65536)
          client.sendall(b"%d" % len(data))
          client.close()
      """;

  private static final String ASK =
      """
      import socket, sys
      s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
      said = s.recv(6)
      assert said, "closed"
      print(said.decode(), end="")
      s.sendall(b"x" * 100000)
      s.shutdown(socket.SHUT_WR)
      print(s.makefile().read())
      """;

  /** The same through a SOCKS proxy. */
  private static final String PROXIED =
      """
      import socket, sys
      s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
      s.sendall(bytes([5, 1, 0]))
      assert s.recv(2) == bytes([5, 0])
      s.sendall(bytes([5, 1, 0, 1, 127, 0, 0, 1]) + int(sys.argv[2]).to_bytes(2, "big"))
      assert s.recv(10)[1] == 0
      s.sendall(b"x" * 100000)
      s.shutdown(socket.SHUT_WR)
      print(s.makefile().read())
      """;

  private record Case(int number, String what, String script) {}

  private static final List<Case> CASES =
      List.of(
          new Case(
              1,
              "streams are apart and the status is the command's",
              """
              status ssh devbox 'echo o; echo e >&2; exit 7' >"$dir/o" 2>"$dir/e"
              same "$code $(cat "$dir/o") $(cat "$dir/e")" "7 o e"
              """),
          new Case(
              2,
              "a command that a signal ends",
              """
              status ssh devbox 'kill -TERM $$'
              same $code 255
              """),
          new Case(
              3,
              "a shell without a terminal reads its standard input",
              """
              status sh -c 'echo "echo hi; exit 3" | ssh -F "$config" -T devbox' >"$dir/o"
              same "$code $(cat "$dir/o")" "3 hi"
              """),
          new Case(
              4,
              "20 MB both ways, and the end of input",
              """
              noise 20000000 >"$dir/f"
              ssh devbox 'cat; echo eof' <"$dir/f" >"$dir/g"
              echo eof >>"$dir/f"
              cmp "$dir/f" "$dir/g"
              """),
          new Case(
              5,
              "a command of 100 kB",
              """
              long=$(head -c 100000 /dev/zero | tr '\\0' x)
              same "$(ssh devbox "x=$long; echo \\${#x}")" 100000
              """),
          new Case(
              6,
              "a reader that has enough ends the command",
              """
              ssh devbox 'echo $$ >yes.pid; exec yes' | head -1 >"$dir/o" || true
              same "$(cat "$dir/o")" y
              within ssh devbox '! kill -0 $(cat yes.pid)'
              ssh devbox 'rm yes.pid'
              """),
          new Case(
              7,
              "a process in the background is not waited for, and lives on",
              """
              pid=$(ssh devbox 'nohup sleep 300 >/dev/null 2>&1 </dev/null & echo $!')
              ssh devbox "kill -0 $pid && kill $pid"
              """),
          new Case(
              8,
              "a terminal: size, its change, Ctrl-C, hang-up",
              """
              needs stty
              python3 "$terminal" "$config"
              """),
          new Case(
              9,
              "no byte before the command's own",
              """
              same "$(ssh devbox true | od -c | head -2)" 0000000
              same "$(ssh devbox 'bash -lc true 2>/dev/null || true' | wc -c)" 0
              """),
          new Case(
              11,
              "forwards: -L, -D, -R to any port, and a port that is refused",
              """
              needs python3
              ssh devbox "mkdir -p c; echo '$speaker' >c/speaker.py"
              ssh devbox 'setsid nohup python3 c/speaker.py >c/port 2>/dev/null </dev/null & echo $! >c/pid; until [ -s c/port ]; do sleep 0.05; done'
              port=$(ssh devbox 'cat c/port')
              here=$(free)
              socks=$(free)
              env ssh -F "$config" -N -L "$here:127.0.0.1:$port" -L "$((here + 1)):127.0.0.1:1" -D "$socks" devbox 2>/dev/null &
              within python3 -c "$ask" "$here"
              same "$(python3 -c "$ask" "$here")" "hello 100000"
              same "$(python3 -c "import socket; s = socket.create_connection(('127.0.0.1', $((here + 1)))); print(len(s.recv(1)))")" 0
              within python3 -c "import socket; s = socket.create_connection(('127.0.0.1', $socks)); s.sendall(bytes([5, 1, 0])); s.recv(2); s.sendall(bytes([5, 1, 0, 1, 127, 0, 0, 1]) + ($port).to_bytes(2, 'big')); s.recv(10); assert s.recv(6) == b'hello '"
              python3 -c "$speaker" >"$dir/port" &
              within test -s "$dir/port"
              env ssh -F "$config" -N -R "0:127.0.0.1:$(cat "$dir/port")" devbox 2>"$dir/r" &
              within grep -q 'Allocated port' "$dir/r"
              there=$(sed -n 's/.*Allocated port \\([0-9]*\\).*/\\1/p' "$dir/r")
              same "$(ssh devbox "python3 -c '$ask' $there")" "hello 100000"
              ssh devbox 'kill $(cat c/pid); rm -r c'
              """),
          new Case(
              13,
              "a socket file of the node, and one there that leads here",
              """
              needs python3
              python3 -c "$speaker" >"$dir/port" &
              within test -s "$dir/port"
              at=$(ssh devbox 'mktemp -d')
              env ssh -F "$config" -N -R "$at/s:127.0.0.1:$(cat "$dir/port")" -o StreamLocalBindUnlink=yes devbox &
              within ssh devbox "test -S $at/s"
              here=$(free)
              env ssh -F "$config" -N -L "$here:$at/s" devbox &
              within python3 -c "$ask" "$here"
              same "$(python3 -c "$ask" "$here")" "hello 100000"
              ssh devbox "rm -r $at"
              """),
          new Case(
              14,
              "the agent's keys, for as long as the channel",
              """
              needs ssh-add
              ssh-keygen -q -t ed25519 -N '' -C gpush-contract -f "$dir/key"
              eval "$(ssh-agent -s)" >/dev/null
              ssh-add -q "$dir/key"
              status ssh -A devbox 'ssh-add -l; echo $SSH_AUTH_SOCK' >"$dir/o"
              kill "$SSH_AGENT_PID"
              grep -q gpush-contract "$dir/o"
              ssh devbox "! test -e $(tail -1 "$dir/o")"
              """),
          new Case(
              15,
              "sftp and scp, and a file that was sent is the same",
              """
              noise 3000000 >"$dir/f"
              at=$(ssh devbox 'mktemp -d')
              printf 'put %s %s\\nget %s %s\\n' "$dir/f" "$at/f" "$at/f" "$dir/g" >"$dir/b"
              sftp -q -b "$dir/b" -F "$config" devbox >/dev/null
              cmp "$dir/f" "$dir/g"
              scp "$dir/f" "devbox:$at/g"
              scp "devbox:$at/g" "$dir/h"
              cmp "$dir/f" "$dir/h"
              ssh devbox "rm -r $at"
              """),
          new Case(
              15,
              "rsync and the old protocol of scp",
              """
              needs rsync scp
              at=$(ssh devbox 'mktemp -d')
              mkdir "$dir/t"
              for n in 1 2 3; do noise 10000 >"$dir/t/$n"; done
              ssh devbox "mkdir $at/t; echo >$at/t/old"
              rsync -a --delete -e "ssh -F $config" "$dir/t/" "devbox:$at/t/"
              scp -O -r "devbox:$at/t" "$dir/u"
              diff -r "$dir/t" "$dir/u"
              ssh devbox "rm -r $at"
              """),
          new Case(
              16,
              "60 commands at once over one connection",
              """
              ssh -M -S "$dir/m" -fN devbox
              for n in $(seq 60); do
                { ssh -S "$dir/m" devbox "echo $n" >"$dir/$n.out"; } &
              done
              for job in $(jobs -p); do wait "$job"; done
              same "$(cat "$dir"/*.out | sort -n | tr '\\n' ' ')" "$(seq 60 | tr '\\n' ' ')"
              ssh -S "$dir/m" -O exit devbox 2>/dev/null
              """),
          new Case(
              17,
              "new keys every 1 MB over 5 MB",
              """
              noise 5000000 >"$dir/f"
              ssh -o RekeyLimit=1M devbox cat <"$dir/f" | cmp - "$dir/f"
              """),
          new Case(
              18,
              "compression is asked for, and the bytes are the same",
              """
              noise 1000000 >"$dir/f"
              ssh -C devbox cat <"$dir/f" | cmp - "$dir/f"
              """),
          new Case(
              22,
              "a client that asks whether we live is answered",
              """
              same "$(ssh -o ServerAliveInterval=1 -o ServerAliveCountMax=2 devbox 'sleep 4; echo there')" there
              """),
          new Case(
              23,
              "as VS Code comes in: a script that never ends, scp beside it, its server through"
                  + " SOCKS",
              """
              needs bash python3
              socks=$(free)
              cat >"$dir/script" <<'END'
              echo "mark: running"
              at=$(mktemp -d)
              printf '%s\\n' "shell==$$==" "at==$at=="
              until [ -e "$at/done" ]; do sleep 0.1; done
              nohup python3 "$at/server.py" >"$at/port" 2>/dev/null </dev/null &
              until [ -s "$at/port" ]; do sleep 0.1; done
              printf '%s\\n' "mark: start" "listeningOn==$(cat "$at/port")==" "pid==$!==" "mark: end"
              while :; do printf ' '; sleep 1; done
              END
              mkfifo "$dir/in"
              env ssh -F "$config" -T -D "$socks" devbox bash <"$dir/in" >"$dir/o" 2>/dev/null &
              client=$!
              exec 9>"$dir/in"
              cat "$dir/script" >&9
              said() { sed -n "s/^$1==\\(.*\\)==$/\\1/p" "$dir/o"; }
              within grep -q '^at==' "$dir/o"
              at=$(said at)
              echo "$speaker" >"$dir/server.py"
              touch "$dir/done"
              scp "$dir/server.py" "devbox:$at/server.py"
              scp "$dir/done" "devbox:$at/done"
              within grep -q '^mark: end' "$dir/o"
              for n in 1 2 3 4; do
                python3 -c "$proxied" "$socks" "$(said listeningOn)" >"$dir/$n.said" &
                asked="${asked-} $!"
              done
              for each in $asked; do wait "$each"; done
              same "$(cat "$dir"/*.said | sort -u)" "hello 100000"
              kill "$client"
              within ssh devbox "! kill -0 $(said shell) 2>/dev/null"
              ssh devbox "kill $(said pid); rm -r $at"
              """),
          new Case(
              27,
              "as Zed comes in: probes, a server by sftp, and its protocol over one command",
              """
              env ssh -F "$config" -N -o ControlMaster=yes -o ControlPersist=no -o "ControlPath=$dir/m" devbox &
              within test -S "$dir/m"
              zed() { ssh -o ControlMaster=no -o "ControlPath=$dir/m" -T devbox "cd; $1"; }
              status zed 'cmd /c ver' 2>/dev/null
              [ "$code" -gt 0 ]
              zed 'uname -sm' | grep -q '^Linux '
              zed "sh -c 'echo \\$SHELL'" | grep -q '^/'
              printf '#!/bin/sh\\necho log >&2\\nexec cat\\n' >"$dir/server"
              name=$(zed pwd)/.contract-$$
              printf 'put %s %s\\n' "$dir/server" "$name" | sftp -q -b - -o "ControlPath=$dir/m" -F "$config" devbox >/dev/null
              zed "chmod 755 $name"
              noise 2000000 >"$dir/f"
              zed "exec $name proxy" <"$dir/f" 2>"$dir/log" | cmp - "$dir/f"
              same "$(cat "$dir/log")" log
              zed "rm $name"
              """));

  /** One after the other, as the others by their locks: the nodes end with the stream. */
  @TestFactory
  @Execution(ExecutionMode.SAME_THREAD)
  Stream<DynamicTest> onThisMachine() throws Exception {
    return contract(RealNodes.local());
  }

  @TestFactory
  @ResourceLock(SshRig.NAME)
  Stream<DynamicTest> onHosts() throws Exception {
    return contract(RealNodes.ssh());
  }

  @TestFactory
  @ResourceLock(SlurmRig.DEFAULT)
  Stream<DynamicTest> onSlurm() throws Exception {
    return contract(RealNodes.slurm());
  }

  @TestFactory
  @ResourceLock(KubernetesRig.PLAIN)
  Stream<DynamicTest> inPods() throws Exception {
    return contract(RealNodes.kubernetes());
  }

  private static Stream<DynamicTest> contract(RealNodes nodes) throws Exception {
    try {
      var up = new ArrayList<>(List.of("up", "--nodes", "1"));
      up.addAll(nodes.gpus());
      nodes.world().gpush(up.toArray(String[]::new)).succeeded();
    } catch (Exception | AssertionError failed) {
      nodes.close();
      throw failed;
    }
    return CASES.stream()
        .map(
            each ->
                DynamicTest.dynamicTest(
                    nodes.kind() + " " + each.number() + ": " + each.what(),
                    () -> holds(nodes, each)))
        .onClose(() -> end(nodes));
  }

  private static void holds(RealNodes nodes, Case test) throws Exception {
    World world = nodes.world();
    String terminal =
        World.repository().resolve("src/test/resources/clients/terminal.py").toString();
    String script = PREAMBLE + test.script();
    long start = System.nanoTime();
    Result result =
        world.run(
            new byte[0],
            "env",
            "config=" + world.sshConfig(),
            "terminal=" + terminal,
            "speaker=" + SPEAKER,
            "ask=" + ASK,
            "proxied=" + PROXIED,
            "bash",
            "-c",
            script);
    String name = "ssh contract, " + nodes.kind() + ", " + test.number() + ": ";
    if (result.exit() == NO_PROGRAM) {
      System.err.println(name + "not run: " + result.err().strip());
      Assumptions.abort(result.err().strip());
    }
    assertTrue(result.exit() == 0, () -> name + test.what() + "\n" + result.out() + result.err());
    System.err.println(name + (System.nanoTime() - start) / 1_000_000 + " ms");
  }

  private static void end(RealNodes nodes) {
    try {
      nodes.close();
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
