package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.PipeLimit;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A backend that gives one pipe to a gang, and what it was asked for. */
public record FewPipes(Backend beneath, Queue<Integer> spawned) implements Backend {
  public FewPipes(Backend beneath) {
    this(beneath, new ConcurrentLinkedQueue<>());
  }

  /** The nodes that have had a pipe, each once. */
  public List<Integer> nodes() {
    return spawned.stream().distinct().sorted().toList();
  }

  @Override
  public Capabilities capabilities() {
    return beneath
        .capabilities()
        .with(
            PipeLimit.class,
            new PipeLimit() {
              @Override
              public int most() {
                return 1;
              }

              @Override
              public void introduce(Gang gang, Json.Obj where) {
                throw new UnsupportedOperationException("all nodes are on one host");
              }
            });
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    spawned.add(node);
    return beneath.spawn(gang, node, arguments);
  }

  @Override
  public String name() {
    return beneath.name();
  }

  @Override
  public String kind() {
    return beneath.kind();
  }

  @Override
  public String describe() {
    return beneath.describe();
  }

  @Override
  public Plan plan(GangRequest request) {
    return beneath.plan(request);
  }

  @Override
  public Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException {
    return beneath.reserve(request, waiter);
  }

  @Override
  public Observation observe(Gang gang) {
    return beneath.observe(gang);
  }

  @Override
  public void renew(Gang gang, LeaseTerms terms) {
    beneath.renew(gang, terms);
  }

  @Override
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    return beneath.release(gang, limit);
  }

  @Override
  public List<Discovered> discover(String owner) {
    return beneath.discover(owner);
  }

  @Override
  public List<String> interpreters(Gang gang) {
    return beneath.interpreters(gang);
  }
}
