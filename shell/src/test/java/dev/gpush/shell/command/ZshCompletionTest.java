package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code gpush completion zsh} in a zsh whose user has configured nothing, where there is one. */
final class ZshCompletionTest {
  private static final Path ZSH = Path.of("/usr/bin/zsh");

  /** Completes one session, else prints its arguments. */
  private static final String GPUSH =
      """
      #!/bin/sh
      case $1 in
        __complete) printf 'devbox:\\ta session\\n' ;;
        *) printf '<%s>' "$@"; echo ;;
      esac
      """;

  private static final String TYPING =
      """
      zmodload zsh/zpty
      zpty shell zsh -f -i
      zpty -w shell 'source ./completion; bindkey "^I" complete-word'
      zpty -w -n shell $'gpush cp ckpt devb\\tckpt\\n'
      while zpty -r shell line; do
        [[ $line == *'compdef'*'not found'* ]] && print -r -- "$line"
        [[ $line == '<'* ]] && print -r -- ${line%%$'\\r'*} && break
      done
      zpty -d shell
      """;

  @TempDir Path folder;

  @Test
  void aSessionKeepsItsColonAndNothingNeedsToBeConfigured() throws Exception {
    assumeTrue(Files.isExecutable(ZSH), "there is no zsh");
    var desk = new Desk();
    FakeInvocation script = desk.client("gpush completion zsh");
    desk.call(script);
    Files.write(folder.resolve("completion"), script.outBytes());
    Path gpush = Files.writeString(folder.resolve("gpush"), GPUSH);
    gpush.toFile().setExecutable(true);

    assertEquals("<cp><ckpt><devbox:ckpt>\n", typed());
  }

  private String typed() throws IOException, InterruptedException {
    var zsh = new ProcessBuilder(List.of(ZSH.toString(), "-f", "-c", TYPING));
    zsh.directory(folder.toFile()).redirectErrorStream(true);
    zsh.environment()
        .putAll(
            Map.of("HOME", folder.toString(), "PATH", folder + ":/usr/bin:/bin", "TERM", "vt100"));
    Process process = zsh.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return said;
  }
}
