package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files, and the completions in the shells themselves, with a gpush that knows two words. */
final class PackageFilesTest {
  @TempDir private Path folder;

  @BeforeEach
  void write() throws IOException {
    PackageFiles.main(new String[] {folder.resolve("share").toString()});
    Path program = folder.resolve("bin/gpush");
    Files.createDirectories(program.resolveSibling("."));
    Files.writeString(
        program, "#!/bin/sh\n[ \"$*\" = '__complete -- u' ] && printf 'up\\tGet nodes\\nuse\\n'\n");
    assertTrue(program.toFile().setExecutable(true));
  }

  @Test
  void manFindsThePagesAndAnAgentTheSkill() throws IOException {
    assertEquals(
        ManPages.all().get("gpush-run.1"),
        Files.readString(folder.resolve("share/man/man1/gpush-run.1")));
    assertTrue(
        Files.readString(folder.resolve("share/gpush/SKILL.md")).startsWith("---\nname: gpush\n"));
  }

  @Test
  void bashCompletes() throws Exception {
    assertEquals(
        "up use",
        said(
            "bash",
            "--norc",
            "-c",
            ". share/bash-completion/completions/gpush; COMP_WORDS=(gpush u) COMP_CWORD=1;"
                + " _gpush; echo \"${COMPREPLY[@]}\""));
  }

  @Test
  void zshCompletesFromAFileAtTheFirstTab() throws Exception {
    assertEquals(
        "_gpush up:Get nodes use",
        said(
            "zsh",
            "-f",
            "-c",
            "fpath=($PWD/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -uD;"
                + " _describe() { print -r -- $_comps[gpush] $names };"
                + " words=(gpush u) CURRENT=2; _gpush"));
  }

  @Test
  void zshCompletesAfterEval() throws Exception {
    assertEquals(
        "_gpush up:Get nodes use",
        said(
            "zsh",
            "-f",
            "-c",
            "autoload -Uz compinit; compinit -uD; eval \"$(<share/zsh/site-functions/_gpush)\";"
                + " _describe() { print -r -- $_comps[gpush] $names };"
                + " words=(gpush u) CURRENT=2; _gpush"));
  }

  @Test
  void fishCompletes() throws Exception {
    assertEquals(
        "up\tGet nodes\nuse",
        said(
            "fish",
            "--no-config",
            "-c",
            "source share/fish/vendor_completions.d/gpush.fish; complete -C 'gpush u'"));
  }

  private String said(String shell, String... words) throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin", shell)), shell + " is not here");
    var command = new ArrayList<>(List.of("/usr/bin/" + shell));
    command.addAll(List.of(words));
    var builder = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true);
    builder.environment().put("HOME", folder.toString());
    builder.environment().put("PATH", folder.resolve("bin") + ":/usr/bin:/bin");
    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), said);
    return said.strip();
  }
}
