package dev.gpush.core.fabric;

import java.util.Optional;
import java.util.stream.Stream;

/** Who decides a variable, the strongest first. */
public enum Authority {
  /** gpush.yaml, --env, words before the command: never changed. */
  USER("user"),
  /** nccl.conf of the node and the environment of its image: never changed. */
  SITE("site"),
  /** A recipe whose evidence was found on the node. */
  RECIPE("recipe"),
  /** What the facts of the nodes say. */
  DISCOVERY("discovery"),
  /** NCCL's own choice: the variable stays unset. */
  NCCL("nccl");

  private final String word;

  Authority(String word) {
    this.word = word;
  }

  /** As JSON has it. */
  public String word() {
    return word;
  }

  static Optional<Authority> named(String word) {
    return Stream.of(values()).filter(each -> each.word.equals(word)).findFirst();
  }
}
