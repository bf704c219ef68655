package dev.gpush.backends.kubernetes;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;

/** A scheduler that looks at one pod after the other. */
record PlainGang() implements GangSystem {
  @Override
  public String name() {
    return "plain";
  }

  @Override
  public Json.Obj marked(Json.Obj job, Manifest manifest) {
    return job;
  }

  @Override
  public List<Companion> companions(Json job, Manifest manifest) {
    return List.of();
  }

  @Override
  public Begin begin() {
    return Begin.ASSEMBLED;
  }

  @Override
  public Optional<Waiting> waiting(Place place, Json job, Pods pods) {
    return Optional.empty();
  }
}
