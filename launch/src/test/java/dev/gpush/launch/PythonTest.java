package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.text.Resource;
import dev.gpush.launch.node.NodeCalls;
import dev.gpush.launch.node.PythonChoice;
import dev.gpush.launch.node.PythonFacts;
import dev.gpush.launch.node.Pythons;
import dev.gpush.launch.plan.Scripts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which Python, what it says of itself, and whether the script needs torch. */
@Execution(ExecutionMode.CONCURRENT)
final class PythonTest {
  private static final List<String> ACTIVE = List.of("@venv", "@conda", "python3", "python");

  private static PythonFacts facts(String version, String torch, String... packages) {
    return new PythonFacts(
        new PythonFacts.Interpreter(
            "/home/me/envs/llm/bin/python", version, "/home/me/envs/llm", true),
        Optional.of(torch).filter(text -> !text.isEmpty()),
        Optional.empty(),
        Optional.empty(),
        List.of(packages),
        Map.of(),
        new PythonFacts.Account("/home/me", "me", "/usr/bin:/bin"));
  }

  @ParameterizedTest
  @CsvSource({
    "3.11, python3.11",
    "python3.12, python3.12",
    "/opt/x/bin/python, /opt/x/bin/python",
    "~/envs/llm, ~/envs/llm",
    "../../env, /env",
    "../env, /n/ws/env",
    "./env, /n/ws/a/env",
    ".venv, /n/ws/a/.venv"
  })
  void namedOneIsTheOnlyCandidateHere(String asked, String expected) {
    PythonChoice choice =
        PythonChoice.of(
            Optional.of(asked), Optional.empty(), Path.of("/w"), Path.of("/w/a"), true, "/n/ws");

    assertEquals(List.of(expected), choice.candidates());
  }

  @Test
  void oneThatTheClientHasHereGoesBeforeOneThatSetupMakesInTheWorkspace(@TempDir Path root)
      throws IOException {
    Files.createDirectory(root.resolve("env"));

    assertEquals(
        List.of(root.resolve("env").toString()),
        PythonChoice.of(Optional.of("./env"), Optional.empty(), root, root, true, "/n/ws")
            .candidates());
  }

  @Test
  void pathOfTheWorkspaceIsAPathOfItsCopyElsewhere() {
    assertEquals(
        List.of("/n/ws/env"),
        PythonChoice.of(
                Optional.of("../env"),
                Optional.empty(),
                Path.of("/w"),
                Path.of("/w/a"),
                false,
                "/n/ws")
            .candidates());
  }

  @Test
  void environmentOfTheWorkspaceGoesBeforeTheActiveOne(@TempDir Path root) throws IOException {
    Path folder = Files.createDirectories(root.resolve("a/b"));
    assertEquals(
        ACTIVE,
        PythonChoice.of(Optional.empty(), Optional.empty(), root, folder, true, "/n/ws")
            .candidates());

    Files.createDirectory(root.resolve(".venv"));
    assertEquals(
        root.resolve(".venv").toString(),
        PythonChoice.of(Optional.empty(), Optional.empty(), root, folder, true, "/n/ws")
            .candidates()
            .getFirst());

    Files.createDirectory(root.resolve("a/.venv"));
    var candidates =
        new ArrayList<>(
            PythonChoice.of(Optional.empty(), Optional.empty(), root, folder, true, "/n/ws")
                .candidates());
    assertEquals(root.resolve("a/.venv").toString(), candidates.removeFirst());
    assertEquals(ACTIVE, candidates);

    assertEquals(
        "/n/ws/.venv",
        PythonChoice.of(Optional.empty(), Optional.empty(), root, folder, false, "/n/ws")
            .candidates()
            .getFirst());
  }

  @Test
  void lockFileWithoutEnvironmentIsWorthAWord(@TempDir Path root) throws IOException {
    assertFalse(PythonChoice.lacksUvEnvironment(root, root, true));
    Files.createFile(root.resolve("uv.lock"));
    assertTrue(PythonChoice.lacksUvEnvironment(root, root, true));
    assertFalse(PythonChoice.lacksUvEnvironment(root, root, false));
    Files.createDirectory(root.resolve(".venv"));
    assertFalse(PythonChoice.lacksUvEnvironment(root, root, true));
  }

  private static NodeCalls.Answer probe(Map<String, String> environment, String... candidates)
      throws IOException, InterruptedException {
    var arguments =
        new ArrayList<>(
            List.of(
                "sh",
                "-c",
                Resource.text(Pythons.class, "probe.sh"),
                "sh",
                Resource.text(Pythons.class, "probe.py")));
    arguments.addAll(List.of(candidates));
    var builder = new ProcessBuilder(arguments).redirectErrorStream(true);
    builder.environment().keySet().removeAll(List.of("VIRTUAL_ENV", "CONDA_PREFIX"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new NodeCalls.Answer(process.waitFor(), output, "");
  }

  @Test
  void probeTakesTheFirstThatIsThere() throws Exception {
    NodeCalls.Answer answer =
        probe(Map.of(), "@venv", "@conda", "/nothing/here", "no-such-python", "python3");

    PythonFacts facts = PythonFacts.parse(answer.output()).orElseThrow();
    assertTrue(facts.version().matches("3\\.[0-9]+\\.[0-9]+"), facts::version);
    assertTrue(Files.isExecutable(Path.of(facts.executable())), facts::executable);
    assertTrue(facts.stamps().containsKey(facts.executable()));
    assertEquals(97, probe(Map.of(), "@venv", "/nothing", "").exit());
  }

  @Test
  void probeNamesTheOneThatItBecomes(@TempDir Path folder) throws Exception {
    Path broken = Files.writeString(folder.resolve("python3"), "#!/bin/sh\necho bad >&2; exit 9\n");
    assertTrue(broken.toFile().setExecutable(true));

    NodeCalls.Answer answer = probe(Map.of(), "/nothing", broken.toString(), "python3");

    assertEquals(9, answer.exit());
    assertEquals("gpush-candidate " + broken + "\nbad\n", answer.output());
  }

  @Test
  void probeFindsEnvironmentsByTheirFolder(@TempDir Path folder) throws Exception {
    Path environment = folder.resolve("my env");
    assertEquals(
        0,
        new ProcessBuilder(
                "python3", "-m", "venv", "--copies", "--without-pip", environment.toString())
            .start()
            .waitFor());
    Path packages =
        Files.list(environment.resolve("lib")).findFirst().orElseThrow().resolve("site-packages");
    Files.createDirectory(packages.resolve("torch-2.8.0+cpu.dist-info"));
    Files.createDirectory(packages.resolve("old-1.0-py3.11.egg-info"));

    PythonFacts facts =
        PythonFacts.parse(probe(Map.of(), environment.toString()).output()).orElseThrow();

    assertTrue(facts.interpreter().isEnvironment());
    assertEquals(
        environment.toRealPath().toString(),
        Path.of(facts.interpreter().prefix()).toRealPath().toString());
    assertEquals(Optional.of("2.8.0+cpu"), facts.torch());
    assertEquals(List.of("old-1.0", "torch-2.8.0+cpu"), facts.packages());
    assertTrue(facts.activation().get("PATH").startsWith(facts.interpreter().prefix() + "/bin:"));
    assertEquals(
        facts.executable(),
        PythonFacts.parse(
                probe(Map.of("VIRTUAL_ENV", environment.toString()), "@venv", "python3").output())
            .orElseThrow()
            .executable());
    assertEquals(
        facts.executable(),
        PythonFacts.parse(probe(Map.of("HOME", folder.toString()), "~/my env").output())
            .orElseThrow()
            .executable());
  }

  /** How a wheel, conda and NVIDIA's images have NCCL; nothing of torch is imported. */
  @ParameterizedTest
  @CsvSource({
    "cuda: Optional[str] = '12.4', nvidia_nccl_cu12-2.21.5.dist-info, 12.4, 2.21.5",
    "cuda = '13.0', nvidia_nccl_cu13-2.27.7.dist-info, 13.0, 2.27.7",
    "cuda = '12.1', ../../../conda-meta/nccl-2.18.5.1-h1a2b3c4_0.json, 12.1, 2.18.5",
    "cuda = '12.6', torch/lib/libnccl.so.2.23.4, 12.6, 2.23.4",
    "cuda = '12.6', torch/lib/libnccl.so.2, 12.6, ",
    "cuda: Optional[str] = None, nvidia_nccl_cu12-2.21.5.dist-info, , ",
    "nonsense(, torch/lib, , "
  })
  void probeSaysWhichNcclTorchLoads(
      String text, String file, String cuda, String nccl, @TempDir Path folder) throws Exception {
    Path environment = folder.resolve("[env]");
    assertEquals(
        0,
        new ProcessBuilder(
                "python3", "-m", "venv", "--copies", "--without-pip", environment.toString())
            .start()
            .waitFor());
    Path packages =
        Files.list(environment.resolve("lib")).findFirst().orElseThrow().resolve("site-packages");
    Files.createDirectory(packages.resolve("torch"));
    Files.writeString(packages.resolve("torch/version.py"), "import nothing_at_all\n" + text);
    Files.createDirectories(packages.resolve(file));
    Path library = packages.resolve("torch/lib/libnccl.so.2");
    if (file.startsWith("torch/lib/") && !Files.exists(library)) {
      Files.createSymbolicLink(library, packages.resolve(file).getFileName());
    }

    PythonFacts facts =
        PythonFacts.parse(probe(Map.of(), environment.toString()).output()).orElseThrow();

    assertEquals(Optional.ofNullable(cuda), facts.cuda());
    assertEquals(Optional.ofNullable(nccl), facts.nccl());
    assertEquals(Optional.of("of unknown version"), facts.torch());
  }

  @Test
  void factsAreFoundBehindNoise() {
    assertEquals(Optional.empty(), PythonFacts.parse("hello"));
    assertEquals(Optional.empty(), PythonFacts.parse("gpush-python {\"executable\": "));
    assertEquals(
        "3.9.1",
        PythonFacts.parse("noise\ngpush-python {\"executable\": \"/p\", \"version\": \"3.9.1\"}\n")
            .orElseThrow()
            .version());
  }

  @Test
  void wordsAreThoseOfTheHeader() {
    assertEquals("~/envs/llm python 3.11 torch 2.8", facts("3.11.7", "2.8.0+cu128").words());
    assertEquals("~/envs/llm python 3.11", facts("3.11.7", "").words());
  }

  @Test
  void differencesAreNamed() {
    PythonFacts first = facts("3.11.7", "", "a-1", "b-1", "c-1", "d-1", "e-1");

    assertEquals(
        List.of(), first.differences(facts("3.11.7", "", "a-1", "b-1", "c-1", "d-1", "e-1")));
    assertEquals(
        List.of("has Python 3.12.0, not 3.11.7", "lacks a-1, b-1, c-1 and 2 more", "has a-2"),
        first.differences(facts("3.12.0", "", "a-2")));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "import torch", "import os\nimport torch\n", "from torch import nn",
            "import torch.nn as nn",
        "import os, sys, torch", "import numpy as np, torch", "from torch.nn import x",
            "import  torch"
      })
  void scriptThatImportsTorchAtTheMargin(String text) {
    assertTrue(Scripts.importsTorch(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "import torchvision",
        "def f():\n  import torch",
        "# import torch",
        "from torchx import y",
        "import os\nx = 'import torch'",
        "try:\n    import torch\nexcept ImportError:\n    torch = None",
        "import pytorch",
        "from .torch import x"
      })
  void scriptThatMayDoWithout(String text) {
    assertFalse(Scripts.importsTorch(text));
  }
}
