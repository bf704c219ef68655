package dev.gpush.backends.kubernetes.gangs;

import dev.gpush.backends.kubernetes.objects.GangObjects;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.kubernetes.pods.Pods;
import dev.gpush.core.json.Json;
import java.util.Optional;

/** A scheduler that looks at one pod after the other. */
public record PlainGang() implements GangSystem {
  @Override
  public String name() {
    return "plain";
  }

  @Override
  public Json.Obj marked(Json.Obj job, GangObjects manifest) {
    return job;
  }

  @Override
  public Begin begin() {
    return Begin.ASSEMBLED;
  }

  @Override
  public Optional<Waiting> waiting(Namespace place, Json job, Pods pods) {
    return Optional.empty();
  }
}
