package dev.gpush.ssh.files;

import dev.gpush.core.text.ShellQuote;
import java.nio.file.Path;
import java.util.List;

/**
 * The script that ssh runs before it connects. If the gateway runs it takes a few milliseconds: it
 * reads the greeting from the port, which only this home's gateway sends. Else it runs the
 * launcher, which starts the gateway and returns when it is ready.
 */
public record WakeScript(
    List<String> launcher, Path home, Path portFile, String greeting, int port) {

  String text() {
    return """
    #!/bin/sh
    # Written by gpush; ssh runs it before it connects (see ssh_config beside it).
    # Ends at once when the gateway greets; else starts it and waits for it.
    if command -v bash >/dev/null 2>&1 &&
      bash -c 'exec 3<>/dev/tcp/127.0.0.1/%d && IFS= read -r -t 2 line <&3 &&
        case $line in *"%s"*) exit 0 ;; esac; exit 1' 2>/dev/null; then
      exit 0
    fi
    GPUSH_HOME=%s %s __wake </dev/null >/dev/null
    status=$?
    port=%d
    read -r now <%s 2>/dev/null && if [ "$now" != "$port" ]; then
      echo "gpush: another program uses port $port; gpush now uses $now. Run your command again." >&2
    fi
    exit $status
    """
        .formatted(
            port,
            greeting,
            ShellQuote.of(home.toString()),
            ShellQuote.join(launcher),
            port,
            ShellQuote.of(portFile.toString()));
  }
}
