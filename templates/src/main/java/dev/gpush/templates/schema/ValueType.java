package dev.gpush.templates.schema;

import dev.gpush.core.config.DataPlace;
import dev.gpush.core.config.NodeFolder;
import java.util.List;

/**
 * The type of a key's value. {@code ValueReader} reads it; {@code words} finish the sentence "must
 * be …".
 */
public sealed interface ValueType {
  String words();

  /** Those that need no more to be read. */
  enum Simple implements ValueType {
    TEXT("text"),

    /** Kept as seconds. */
    SPAN("a duration such as 90s, 30m or 1d12h"),

    /** A list of them; kept as a list of seconds. */
    SPANS("a list of durations, such as [30m, 5m]"),

    /** Kept as text, the duration as seconds: {@code USR1@600}. */
    WARNING("a signal and how long before the end it comes, such as USR1@10m"),

    /** Kept as bytes. */
    SIZE("a size such as 500kB, 50MB or 2GiB"),

    GPUS("GPUs per node: MODEL:COUNT, COUNT or MODEL"),
    VARIABLES("variables with values, such as {OMP_NUM_THREADS: 8}"),

    /** Kept as numbers. */
    PRICES("prices of GPU models for an hour, such as {H100: 2.49}"),

    /** Names of backends; whether they are configured is known once all files are read. */
    BACKEND_NAMES("a list of backend names, such as [hpc, local]"),

    /** Kept as objects with {@code host} and what else is written of it. */
    HOSTS("a list of machines, such as [gpu01, \"ml@gpu[02-08].lab:2222\"]"),

    /** One text, or a list of them; kept as a list. */
    TEXTS("text, or a list of texts"),

    /** One, or a list of them; kept as a list of texts. */
    PORTS("a list of ports of nodes, such as [8888, \"all:6006\"]"),

    YES_NO("true or false"),

    TEMPLATE_NAME("the name of a template: a-z, 0-9 and '-', at most 32"),
    ABSOLUTE_PATH("an absolute path"),

    /** Places of data by the names that programs find them under. */
    MOUNTS("places of data by name, such as {data: /scratch/$USER/c4}"),

    /** Kept as an absolute path, relative to the folder of its file. */
    FILE_PATH("a path; a relative one starts at the folder of this file"),

    /** Kept as text. */
    COMMITS("a number of commits such as 1000, or all, or none");

    private final String words;

    Simple(String words) {
      this.words = words;
    }

    @Override
    public String words() {
      return words;
    }
  }

  record Whole(long least, long most) implements ValueType {
    @Override
    public String words() {
      return "a whole number from " + least + " to " + most;
    }
  }

  /** See {@link NodeFolder}. */
  record FolderOnNodes(NodeFolder.Variables variables) implements ValueType {
    @Override
    public String words() {
      return variables.words();
    }
  }

  /** See {@link DataPlace}. */
  record PlaceOfData(DataPlace.Form form) implements ValueType {
    @Override
    public String words() {
      return form.words();
    }
  }

  record OneOf(List<String> choices) implements ValueType {
    public OneOf {
      choices = List.copyOf(choices);
    }

    @Override
    public String words() {
      return "one of " + String.join(", ", choices);
    }
  }
}
