package dev.gpush.launch.check;

import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import java.util.List;
import java.util.Optional;

/** How CUDA started on one node. */
sealed interface CudaReply {
  /** The line that cuda.py prints its answer on. */
  String MARK = "\ngpush-cuda ";

  /**
   * It was started on each GPU.
   *
   * @param errors one for each GPU that CUDA sees, in order; absent where it started
   */
  record Started(List<Optional<String>> errors) implements CudaReply {
    public Started {
      errors = List.copyOf(errors);
    }
  }

  /** It does not start at all, for this reason. */
  record Dead(String why) implements CudaReply {}

  /** It was not started, for this reason. */
  record Untried(String why) implements CudaReply {}

  /** Of what the node printed, after whatever the Python's own start-up printed. */
  static CudaReply read(String output) {
    int mark = ("\n" + output).lastIndexOf(MARK);
    if (mark < 0) {
      return new Untried("the Python printed no answer");
    }
    try {
      Json answer = Json.parse(("\n" + output).substring(mark + MARK.length()).strip());
      Optional<String> error = answer.text("error");
      return error.isPresent()
          ? new Dead(error.get())
          : new Started(
              answer.items("gpus").stream()
                  .map(
                      gpu ->
                          gpu instanceof Json.Text(var why)
                              ? Optional.of(why)
                              : Optional.<String>empty())
                  .toList());
    } catch (JsonSyntaxException cut) {
      return new Untried("the answer of the Python was cut off");
    }
  }
}
