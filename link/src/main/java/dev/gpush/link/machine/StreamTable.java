package dev.gpush.link.machine;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** The open streams of one link, by number, and the numbers that were used. */
final class StreamTable {
  private final Map<Integer, StreamState> streams = new TreeMap<>();
  private final WindowPool pool;
  private int nextNumber = 1;
  private int highestOfAgent;

  StreamTable(WindowPool pool) {
    this.pool = pool;
  }

  Optional<StreamState> find(int number) {
    return Optional.ofNullable(streams.get(number));
  }

  /** A snapshot of the open streams. */
  List<StreamState> all() {
    return new ArrayList<>(streams.values());
  }

  Collection<StreamState> open() {
    return Collections.unmodifiableCollection(streams.values());
  }

  int size() {
    return streams.size();
  }

  long windowBytes() {
    return pool.used();
  }

  boolean isFull() {
    return streams.size() >= LinkLimits.MAX_STREAMS;
  }

  /** A stream of ours. */
  StreamState reserve(int window) {
    return add(freeNumber(), window);
  }

  /** A stream that the agent opens. */
  StreamState openedByAgent(int number, long credit) {
    highestOfAgent = Math.max(highestOfAgent, number);
    StreamState stream = add(number, LinkLimits.DEFAULT_WINDOW);
    stream.announce();
    stream.credit().allow(credit);
    return stream;
  }

  private StreamState add(int number, int window) {
    var stream = new StreamState(number, new StreamCredit(pool, pool.first(window)));
    streams.put(number, stream);
    return stream;
  }

  /** Both sides have closed it, or the peer never knew it: the number is free. */
  void forget(StreamState stream) {
    if (streams.remove(stream.number(), stream)) {
      stream.credit().end();
    }
  }

  /** Whether a stream of this number has ever been open. */
  boolean wasOpened(int number) {
    return number > 0 && (number % 2 == 1 ? number < nextNumber : number <= highestOfAgent);
  }

  /** Another agent: it has opened nothing yet. */
  void restart() {
    highestOfAgent = 0;
  }

  private int freeNumber() {
    int number = nextNumber;
    while (streams.containsKey(number)) {
      number = after(number);
    }
    nextNumber = after(number);
    return number;
  }

  /** Odd numbers, again from 1 after the last: 4,096 streams leave a free one. */
  private static int after(int number) {
    return number >= Integer.MAX_VALUE - 1 ? 1 : number + 2;
  }
}
