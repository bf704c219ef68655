package dev.gpush.ssh.files;

import dev.gpush.core.text.ShellQuote;
import java.nio.file.Path;
import java.util.List;

/**
 * What ssh runs to reach a gateway that listens on a socket: OpenSSH connects to ports only. Each
 * connection waits for its start, so it is Python where that is installed, a tenth of what a JVM
 * takes, and else gpush itself. It starts the gateway if none answers.
 *
 * @param socket a file, or the number of a port
 */
record ProxyFiles(List<String> launcher, Path home, Path socket) {
  /** Modules of C only: {@code socket} and {@code subprocess} would double the start. */
  static final String PYTHON =
      """
      # Written by gpush; ssh_proxy beside it runs it: python3 ssh_connect.py SOCKET LAUNCHER...
      # Connects its input and output with the gateway's socket; starts the gateway if none answers.
      import _socket, _thread, os, sys

      PIECE = 256 << 10
      path, launcher = sys.argv[1], sys.argv[2:]
      family, place = _socket.AF_UNIX, path
      if path.isdigit():      # a port
          family, place = _socket.AF_INET, ("127.0.0.1", int(path))


      def connect():
          to = _socket.socket(family, _socket.SOCK_STREAM)
          to.connect(place)
          return to


      def write(number, data):
          while data:
              data = data[os.write(number, data):]


      def up():
          data = os.read(0, PIECE)
          while data:
              gateway.sendall(data)
              data = os.read(0, PIECE)
          gateway.shutdown(_socket.SHUT_WR)


      try:
          gateway = connect()
      except OSError:
          import subprocess
          subprocess.call(launcher + ["__wake"], stdin=subprocess.DEVNULL, stdout=2)
          try:
              gateway = connect()
          except OSError as failed:
              sys.exit("gpush: no gateway answers at %s: %s" % (path, failed.strerror))
      _thread.start_new_thread(up, ())
      try:
          data = gateway.recv(PIECE)
          while data:
              write(1, data)
              data = gateway.recv(PIECE)
      except OSError:
          pass                # One of the two ends is gone.
      os._exit(0)
      """;

  Path script() {
    return home.resolve("ssh_proxy");
  }

  Path python() {
    return home.resolve("ssh_connect.py");
  }

  String scriptText() {
    String gpush = ShellQuote.join(launcher);
    String at = ShellQuote.of(socket.toString());
    return """
    #!/bin/sh
    # Written by gpush; ssh runs it as its ProxyCommand (see ssh_config beside it).
    # Connects ssh with the socket of the gateway, and starts the gateway if it is not there.
    export GPUSH_HOME=%s
    python=$(command -v python3)
    # On a Mac without its developer tools this python3 only asks the user to install them.
    if [ "$python" = /usr/bin/python3 ] && command -v xcode-select >/dev/null 2>&1 &&
      ! xcode-select -p >/dev/null 2>&1; then
      python=
    fi
    [ -z "$python" ] || exec "$python" -I -S %s %s %s
    %s __connect %s
    status=$?
    [ $status -eq 75 ] || exit $status
    %s __wake </dev/null >/dev/null
    exec %s __connect %s
    """
        .formatted(
            ShellQuote.of(home.toString()),
            ShellQuote.of(python().toString()),
            at,
            gpush,
            gpush,
            at,
            gpush,
            gpush,
            at);
  }
}
