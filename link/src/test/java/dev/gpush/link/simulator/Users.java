package dev.gpush.link.simulator;

import dev.gpush.core.json.Json;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.machine.LinkEvent;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The users of streams at both ends: what they do, and what they must hear. */
final class Users {
  private static final int MOST_STREAMS = 12;

  /** One schedule of so many has more streams than that. */
  private static final int CROWD = 40;

  /** More than go in a row on the fast lane. */
  private static final int MOST_CROWD = 150;

  private static final int MOST_BULK = 600_000;

  private final Simulation sim;
  private final Map<Integer, Talk> there = new HashMap<>();
  private boolean isHealed;
  private int mostStreams = MOST_STREAMS;
  private boolean isCrowd;

  Users(Simulation sim) {
    this.sim = sim;
  }

  void begin() {
    isCrowd = !sim.isBulk && sim.chance(CROWD);
    mostStreams = isCrowd ? MOST_CROWD : sim.isBulk ? 2 : sim.pick(1, 3, MOST_STREAMS);
    for (int i = isCrowd ? 100 : 1; i > 0; i--) {
      openHere();
    }
  }

  void heal() {
    isHealed = true;
  }

  private boolean isFull() {
    return sim.talks.size() >= mostStreams;
  }

  // ---- the gateway's users

  private Talk newTalk(boolean isOfAgent, boolean isListener) {
    var talk = new Talk(sim.talks.size() + 1, isOfAgent, isListener);
    sim.talks.add(talk);
    talk.isRefused = sim.chance(12);
    talk.isNeverRead = sim.chance(6);
    for (Half half : List.of(talk.up, talk.down)) {
      half.plan(0, bytes(), sim.chance(4) ? sim.random.nextInt(8) : 0);
      half.plan(1, sim.chance(3) ? bytes() : 0, 0);
    }
    return talk;
  }

  private long bytes() {
    if (isCrowd) {
      return sim.random.nextInt(sim.chance(10) ? 20_000 : 20);
    }
    if (sim.isBulk) {
      return sim.random.nextInt(MOST_BULK);
    }
    return sim.random.nextInt(sim.pick(1, 50, 5_000, 5_000, 60_000, 200_000) + 1);
  }

  private void openHere() {
    Talk talk = newTalk(false, sim.chance(5));
    talk.agentsBefore = sim.agentsKnown;
    int credit = sim.pick(100, 2_000, 65_536, 1 << 22);
    Json.Obj request = Json.object("type", "talk", "id", talk.id);
    var stream = sim.machine().reserve(credit);
    talk.stream = Optional.of(stream);
    talk.isKnownHere = true;
    sim.know(stream, talk);
    sim.machine().announce(stream, request);
  }

  void actHere() {
    if (!isFull() && sim.chance(4)) {
      openHere();
    } else if (!sim.talks.isEmpty()) {
      Talk talk = sim.talks.get(sim.random.nextInt(sim.talks.size()));
      for (int i = 0; i < 2; i++) {
        actHere(talk);
      }
    }
    sim.verifyMemory();
  }

  private void actHere(Talk talk) {
    if (!talk.isKnownHere) {
      return;
    }
    consumeHere(talk, isHealed || !talk.isNeverRead);
    if (!talk.isUsableHere()) {
      return;
    }
    var stream = talk.stream.orElseThrow();
    int channel = sim.random.nextInt(2);
    if (!talk.up.hasEnded(channel)) {
      ByteBuffer bytes =
          talk.up.next(channel, isHealed ? 100_000 : sim.pick(1, 100, 5_000, 100_000));
      int count = sim.machine().send(stream, channel, bytes);
      talk.up.sent(channel, count);
    }
    if (talk.up.messagesLeft() > 0 && (isHealed || sim.chance(2))) {
      boolean urgent = sim.chance(2);
      Json.Obj message = talk.up.message(urgent);
      Frame frame = Frame.ofJson(FrameKind.MESSAGE, urgent ? 1 : 0, stream.number(), message);
      Simulation.require(sim.machine().message(stream, frame), "too many messages");
    }
    if (!talk.up.hasEnded(channel)
        && (talk.up.left(channel) == 0 && sim.chance(isHealed ? 1 : 4) || sim.chance(300))) {
      talk.up.end(channel);
      sim.machine().end(stream, channel);
    }
    boolean isComplete =
        talk.up.isAllSent()
            && talk.up.hasEnded(0)
            && talk.up.hasEnded(1)
            && (talk.down.hasComeToItsEnd() || (isHealed && talk.isListener && !hasChildren()));
    if (isComplete && sim.chance(2) || sim.chance(150)) {
      talk.closedHere = true;
      talk.reasonHere = sim.chance(2) ? Json.object() : Json.object("code", "enough", "facts", 1);
      Simulation.require(sim.machine().close(stream, talk.reasonHere, sim.now), "closed twice");
    }
  }

  private boolean hasChildren() {
    return sim.talks.stream().anyMatch(talk -> talk.isOfAgent && talk.isUsableThere());
  }

  private void consumeHere(Talk talk, boolean reads) {
    long backlog = talk.down.backlog();
    if (backlog > 0 && reads) {
      int count = (int) (isHealed ? backlog : 1 + sim.random.nextLong(backlog));
      talk.down.consume(count);
      if (!sim.isMutated(Mutation.FORGET_CONSUMED)) {
        sim.machine().consumed(talk.stream.orElseThrow(), count);
      }
    }
  }

  void actAllHere() {
    for (Talk talk : List.copyOf(sim.talks)) {
      actHere(talk);
    }
  }

  void offered(LinkEvent.Offered offered) {
    Talk talk = byId(offered.request());
    talk.stream = Optional.of(offered.stream());
    sim.know(offered.stream(), talk);
    boolean isThere = offered.listener().isPresent();
    if (isThere && !talk.isRefused) {
      talk.isKnownHere = true;
      talk.wasOpened = true;
      sim.machine().accept(offered.stream());
    } else {
      talk.closeCameHere = true;
      sim.machine().refuse(offered.stream(), "not-found");
    }
  }

  private Talk byId(Json request) {
    return sim.talks.get(Math.toIntExact(request.number("id").orElseThrow()) - 1);
  }

  void hear(Talk talk, LinkEvent.OfStream event) {
    switch (event) {
      case LinkEvent.Opened _ -> {
        Simulation.require(!talk.wasOpened && talk.isUsableHere(), () -> "OPENED of " + talk);
        talk.wasOpened = true;
      }
      case LinkEvent.Data(_, int channel, var bytes) -> {
        Simulation.require(talk.isUsableHere(), () -> "DATA of " + talk);
        boolean isOther = sim.isMutated(Mutation.OTHER_CHANNEL);
        talk.down.comes(isOther ? 1 - channel : channel, bytes);
        if (sim.isMutated(Mutation.REPEAT_DATA)) {
          talk.down.comes(channel, bytes);
        }
      }
      case LinkEvent.Ended(_, int channel) -> {
        Simulation.require(talk.isUsableHere(), () -> "END of " + talk);
        talk.down.ends(channel);
      }
      case LinkEvent.Message(_, var message) -> {
        Simulation.require(talk.isUsableHere(), () -> "MESSAGE of " + talk);
        talk.down.comes(message);
      }
      case LinkEvent.Closed(_, var reason) -> closedHere(talk, reason);
      case LinkEvent.Writable _ -> {}
      case LinkEvent.Offered _ -> throw new AssertionError("offered twice");
    }
  }

  private void closedHere(Talk talk, Json.Obj reason) {
    Simulation.require(!talk.closeCameHere, () -> "CLOSE twice of " + talk);
    talk.closeCameHere = true;
    String code = reason.text("code").orElse("");
    if (code.equals("agent-restarted")) {
      Simulation.require(sim.agents > talk.agentsBefore, () -> "no agent restarted: " + talk);
      return;
    }
    Simulation.require(
        reason.equals(talk.reasonThere), () -> "closed by " + reason.write() + ": " + talk);
    if (!talk.closedHere) {
      talk.down.isComplete();
    }
  }

  // ---- the agent's owners of streams

  void hearThere(List<AgentSide.Told> told) {
    for (AgentSide.Told each : told) {
      if (each.kind() == AgentSide.Kind.OFFERED) {
        Talk talk = byId(each.json());
        Simulation.require(!talk.isKnownThere, () -> "OPEN twice of " + talk);
        talk.number = each.stream();
        talk.isKnownThere = true;
        there.put(talk.number, talk);
      } else {
        hearThere(known(each.stream()), each);
      }
    }
  }

  private Talk known(int number) {
    Talk talk = there.get(number);
    if (talk == null) {
      throw new AssertionError("the agent's stream " + number + " of nobody");
    }
    return talk;
  }

  private void hearThere(Talk talk, AgentSide.Told told) {
    switch (told.kind()) {
      case DATA -> {
        Simulation.require(talk.isUsableThere(), () -> "DATA there of " + talk);
        talk.up.comes(told.channel(), ByteBuffer.wrap(told.bytes()));
      }
      case END -> talk.up.ends(told.channel());
      case MESSAGE -> talk.up.comes(told.json());
      case OPENED -> {
        Simulation.require(!talk.wasAnswered, () -> "OPENED twice there of " + talk);
        talk.wasAnswered = true;
      }
      case REFUSED -> {
        Simulation.require(!talk.wasAnswered, () -> "REFUSED there of " + talk);
        talk.closeCameThere = true;
      }
      case CLOSE -> {
        Simulation.require(!talk.closeCameThere, () -> "CLOSE twice there of " + talk);
        Simulation.require(told.json().equals(talk.reasonHere), () -> "another reason: " + talk);
        talk.closeCameThere = true;
        talk.up.isComplete();
      }
      case CUT -> {
        Simulation.require(talk.isGoneThere || !talk.isKnownHere, () -> "cut there: " + talk);
        talk.isGoneThere = true;
      }
      case OFFERED -> throw new AssertionError("offered twice");
    }
  }

  void actThere() {
    if (isCrowd && sim.chance(20)) {
      actAllThere();
    } else if (!there.isEmpty()) {
      Talk talk = sim.talks.get(sim.random.nextInt(sim.talks.size()));
      actThere(talk);
    }
  }

  private void actThere(Talk talk) {
    if (!talk.isKnownThere || talk.isGoneThere) {
      return;
    }
    long backlog = talk.up.backlog();
    if (backlog > 0 && (isHealed || !talk.isNeverRead)) {
      int count = (int) (isHealed ? backlog : 1 + sim.random.nextLong(backlog));
      talk.up.consume(count);
      sim.agent.consumed(talk.number, count, sim.now);
    }
    if (!talk.isUsableThere()) {
      return;
    }
    if (!talk.wasAnswered) {
      answer(talk);
      if (!talk.wasAnswered || sim.chance(2)) {
        return;
      }
    }
    sendThere(talk);
    endThere(talk);
    if (talk.isListener && !isFull() && !isHealed && sim.chance(2)) {
      openThere(talk);
    }
  }

  private void answer(Talk talk) {
    if (talk.isOfAgent) {
      return;
    }
    if (talk.isRefused) {
      talk.closedThere = true;
      talk.reasonThere = Json.object("code", "denied", "facts", Json.object());
      sim.agent.refuse(talk.number, "denied");
    } else {
      talk.wasAnswered = true;
      sim.agent.accept(talk.number);
    }
  }

  private void sendThere(Talk talk) {
    int channel = sim.random.nextInt(2);
    if (!talk.down.hasEnded(channel) && talk.down.left(channel) > 0) {
      int room = sim.agent.room(talk.number);
      int most = isHealed ? 100_000 : sim.pick(1, 100, 5_000, 100_000);
      byte[] bytes = talk.down.nextBytes(channel, Math.min(room, most));
      sim.agent.send(talk.number, channel, bytes);
      talk.down.sent(channel, bytes.length);
    }
    if (talk.down.messagesLeft() > 0 && (isHealed || sim.chance(2))) {
      boolean urgent = sim.chance(2);
      sim.agent.message(talk.number, talk.down.message(urgent), urgent);
    }
    if (!talk.down.hasEnded(channel)
        && (talk.down.left(channel) == 0 && sim.chance(isHealed ? 1 : 4) || sim.chance(300))) {
      talk.down.end(channel);
      sim.agent.end(talk.number, channel);
    }
  }

  private void endThere(Talk talk) {
    boolean isComplete =
        talk.down.isAllSent() && talk.down.hasEnded(0) && talk.down.hasEnded(1) && !talk.isListener;
    if (isComplete && sim.chance(3) || sim.chance(150)) {
      talk.closedThere = true;
      talk.reasonThere = sim.chance(3) ? Json.object() : Json.object("exit", talk.id);
      sim.agent.closeStream(talk.number, talk.reasonThere);
    }
  }

  private void openThere(Talk listener) {
    Talk talk = newTalk(true, false);
    talk.agentsBefore = sim.agents;
    Json.Obj request = Json.object("type", "accepted", "listener", listener.number, "id", talk.id);
    talk.isKnownThere = true;
    talk.number = sim.agent.open(request);
    there.put(talk.number, talk);
  }

  void actAllThere() {
    for (Talk talk : List.copyOf(sim.talks)) {
      actThere(talk);
    }
  }

  void agentIsGone() {
    there.clear();
    sim.talks.stream().filter(talk -> talk.isKnownThere).forEach(talk -> talk.isGoneThere = true);
  }

  /** The agent hears of it with the next gateway's HELLO. */
  void gatewayIsGone() {
    for (Talk talk : sim.talks) {
      talk.isKnownHere = false;
      talk.closeCameHere = true;
      talk.isGoneThere = true;
    }
  }

  // ---- the end

  boolean areDone() {
    return sim.talks.stream().noneMatch(talk -> talk.isKnownHere && !talk.closeCameHere);
  }

  void verifyEnd() {
    for (Talk talk : sim.talks) {
      boolean isOver = !talk.isUsableThere();
      Simulation.require(isOver, () -> "open there: " + talk);
      Simulation.require(talk.closeCameHere || talk.isOfAgent, () -> "open here: " + talk);
    }
  }
}
