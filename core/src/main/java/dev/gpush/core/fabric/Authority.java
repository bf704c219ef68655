package dev.gpush.core.fabric;

import dev.gpush.core.text.Worded;

/** Who decides a variable, the strongest first. */
public enum Authority implements Worded {
  /** gpush.yaml, --env, words before the command: never changed. */
  USER,
  /** nccl.conf of the node and the environment of its image: never changed. */
  SITE,
  /** A recipe whose evidence was found on the node. */
  RECIPE,
  /** What the facts of the nodes say. */
  DISCOVERY,
  /** NCCL's own choice: the variable stays unset. */
  NCCL
}
