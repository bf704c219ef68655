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

  record Whole(long least, long most) implements ValueType {
    @Override
    public String words() {
      return "a whole number from " + least + " to " + most;
    }
  }

  record Text() implements ValueType {
    @Override
    public String words() {
      return "text";
    }
  }

  /** Kept as seconds. */
  record Span() implements ValueType {
    @Override
    public String words() {
      return "a duration such as 90s, 30m or 1d12h";
    }
  }

  /** A list of them; kept as a list of seconds. */
  record Spans() implements ValueType {
    @Override
    public String words() {
      return "a list of durations, such as [30m, 5m]";
    }
  }

  /** Kept as text, the duration as seconds: {@code USR1@600}. */
  record Warning() implements ValueType {
    @Override
    public String words() {
      return "a signal and how long before the end it comes, such as USR1@10m";
    }
  }

  /** Kept as bytes. */
  record Size() implements ValueType {
    @Override
    public String words() {
      return "a size such as 500kB, 50MB or 2GiB";
    }
  }

  record Gpus() implements ValueType {
    @Override
    public String words() {
      return "GPUs per node: MODEL:COUNT, COUNT or MODEL";
    }
  }

  record Variables() implements ValueType {
    @Override
    public String words() {
      return "variables with values, such as {OMP_NUM_THREADS: 8}";
    }
  }

  /** Kept as numbers. */
  record Prices() implements ValueType {
    @Override
    public String words() {
      return "prices of GPU models for an hour, such as {H100: 2.49}";
    }
  }

  /** Names of backends; whether they are configured is known once all files are read. */
  record BackendNames() implements ValueType {
    @Override
    public String words() {
      return "a list of backend names, such as [hpc, local]";
    }
  }

  /** Kept as objects with {@code host} and what else is written of it. */
  record Hosts() implements ValueType {
    @Override
    public String words() {
      return "a list of machines, such as [gpu01, \"ml@gpu[02-08].lab:2222\"]";
    }
  }

  /** One text, or a list of them; kept as a list. */
  record Texts() implements ValueType {
    @Override
    public String words() {
      return "text, or a list of texts";
    }
  }

  /** One, or a list of them; kept as a list of texts. */
  record Ports() implements ValueType {
    @Override
    public String words() {
      return "a list of ports of nodes, such as [8888, \"all:6006\"]";
    }
  }

  record YesNo() implements ValueType {
    @Override
    public String words() {
      return "true or false";
    }
  }

  /** Read again, as recipes, by who needs them; kept as true. */
  record RecipeTable() implements ValueType {
    @Override
    public String words() {
      return "recipes by name, each with evidence and what it sets";
    }
  }

  record TemplateName() implements ValueType {
    @Override
    public String words() {
      return "the name of a template: a-z, 0-9 and '-', at most 32";
    }
  }

  record AbsolutePath() implements ValueType {
    @Override
    public String words() {
      return "an absolute path";
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

  /** Places of data by the names that programs find them under. */
  record Mounts() implements ValueType {
    @Override
    public String words() {
      return "places of data by name, such as {data: /scratch/$USER/c4}";
    }
  }

  /** Kept as an absolute path, relative to the folder of its file. */
  record FilePath() implements ValueType {
    @Override
    public String words() {
      return "a path; a relative one starts at the folder of this file";
    }
  }

  /** Kept as text. */
  record Commits() implements ValueType {
    @Override
    public String words() {
      return "a number of commits such as 1000, or all, or none";
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
