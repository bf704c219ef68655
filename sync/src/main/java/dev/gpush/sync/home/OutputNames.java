package dev.gpush.sync.home;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Which names are those of output, not of what people write. They matter only for what no rule of
 * the workspace ignores: for what comes home by itself, and for which saves are a person's. Pure.
 */
public final class OutputNames {
  /** What programs for training, and tools, call the folders that they fill. */
  private static final Set<String> FOLDERS =
      Set.of(
          "checkpoint", "checkpoints", "ckpt", "ckpts", "runs", "wandb", "mlruns", "mlartifacts");

  private static final Set<String> MORE_FOLDERS =
      Set.of(
          "lightning_logs",
          "tb_logs",
          "tensorboard",
          "log",
          "logs",
          "output",
          "outputs",
          "multirun",
          "results",
          "artifacts",
          "build",
          "dist",
          "htmlcov",
          "venv",
          "env",
          "torch_compile_debug",
          "unsloth_compiled_cache");

  private static final Pattern NUMBERED_FOLDER =
      Pattern.compile("checkpoint-\\d+|events?[._]\\d+|.*\\.egg-info|.*\\.dist-info");

  /** Hidden folders that people write files in; the others are caches. */
  private static final Set<String> HIDDEN =
      Set.of(".github", ".gitlab", ".circleci", ".vscode", ".idea", ".devcontainer");

  /** Of those, what editors change while nobody types. */
  private static final Set<String> OF_EDITORS = Set.of(".vscode", ".idea");

  private static final Set<String> OUTPUT_ENDS =
      Set.of(
          "log",
          "out",
          "err",
          "pid",
          "tmp",
          "temp",
          "part",
          "swp",
          "swo",
          "swx",
          "bak",
          "orig",
          "rej",
          "pyc",
          "pyo",
          "so",
          "o",
          "a",
          "whl",
          "pt",
          "pth",
          "ckpt",
          "safetensors",
          "bin",
          "onnx",
          "npy",
          "npz",
          "pkl",
          "pickle",
          "h5",
          "hdf5",
          "parquet",
          "arrow",
          "db",
          "sqlite",
          "prof",
          "trace",
          "qdrep",
          "sqlite3");

  private static final Set<String> MORE_OUTPUT_ENDS =
      Set.of("tar", "tgz", "gz", "zst", "xz", "zip", "crdownload", "nsys-rep", "ncu-rep");

  private static final Pattern OUTPUT_FILE =
      Pattern.compile(
          "core(\\.\\d+)?|events\\.out\\.tfevents\\..*|hs_err_pid\\d+.*|\\.nfs.*|4913|.*~|\\.#.*"
              + "|#.*#|.*___jb_(tmp|old)___");

  /** Languages, and what describes a build: no training writes these into its working folder. */
  private static final Set<String> CODE_ENDS =
      Set.of(
          "py", "pyi", "pyx", "pxd", "ipynb", "sh", "bash", "c", "cc", "cpp", "cxx", "cu", "cuh",
          "h", "hh", "hpp", "rs", "go", "js", "ts", "java", "scala", "jl", "r", "lua", "sql",
          "proto", "cmake", "md", "rst");

  private static final List<String> CODE_FILES =
      List.of("makefile", "dockerfile", ".gitignore", ".gpushignore", "cmakelists.txt");

  private OutputNames() {}

  static boolean isOutputFolder(String name) {
    String low = name.toLowerCase(Locale.ROOT);
    return FOLDERS.contains(low)
        || MORE_FOLDERS.contains(low)
        || NUMBERED_FOLDER.matcher(low).matches();
  }

  /** Where a tool keeps what it makes again. */
  static boolean isHiddenFolder(String name) {
    return name.startsWith(".") && !HIDDEN.contains(name);
  }

  static boolean isOutputFile(String name) {
    String low = name.toLowerCase(Locale.ROOT);
    return OUTPUT_FILE.matcher(name).matches()
        || end(low)
            .map(end -> OUTPUT_ENDS.contains(end) || MORE_OUTPUT_ENDS.contains(end))
            .orElse(false);
  }

  /** A program in some language, or the like: something that a person has written. */
  static boolean isCode(String name) {
    String low = name.toLowerCase(Locale.ROOT);
    return CODE_FILES.contains(low) || end(low).map(CODE_ENDS::contains).orElse(false);
  }

  /** Whether a file that has changed here was saved by a person, as far as its path says. */
  public static boolean isWritten(String path) {
    List<String> names = List.of(path.split("/", -1));
    List<String> folders = names.subList(0, names.size() - 1);
    String name = names.getLast();
    if (isOutputFile(name)
        || folders.stream().anyMatch(each -> isHiddenFolder(each) || OF_EDITORS.contains(each))) {
      return false;
    }
    return isCode(name) || folders.stream().noneMatch(OutputNames::isOutputFolder);
  }

  private static Optional<String> end(String name) {
    int dot = name.lastIndexOf('.');
    return dot <= 0 ? Optional.empty() : Optional.of(name.substring(dot + 1));
  }
}
