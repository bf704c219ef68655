package dev.gpush.testkit.fake;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Passes everything on to another backend; a test overrides what is to differ. */
public class PassingBackend implements Backend {
  private final Backend beneath;

  public PassingBackend(Backend beneath) {
    this.beneath = beneath;
  }

  @Override
  public Capabilities capabilities() {
    return beneath.capabilities();
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    return beneath.spawn(gang, node, arguments);
  }

  @Override
  public List<String> explain() {
    return beneath.explain();
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
