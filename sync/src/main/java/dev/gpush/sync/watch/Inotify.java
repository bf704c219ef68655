package dev.gpush.sync.watch;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One inotify instance of Linux, through the C library. Thread-safe; one thread may {@link #read}.
 *
 * <p>The JDK's own watch service is not enough: it keeps 512 events of a folder, then reports that
 * some are lost, and does not tell a finished write from one that goes on.
 */
@SuppressWarnings("restricted")
final class Inotify implements AutoCloseable {
  static final int MODIFY = 0x2;
  static final int ATTRIB = 0x4;
  static final int CLOSE_WRITE = 0x8;
  static final int MOVED_FROM = 0x40;
  static final int MOVED_TO = 0x80;
  static final int CREATE = 0x100;
  static final int DELETE = 0x200;
  static final int DELETE_SELF = 0x400;
  static final int MOVE_SELF = 0x800;
  static final int UNMOUNT = 0x2000;
  static final int OVERFLOW = 0x4000;
  static final int IGNORED = 0x8000;
  static final int FOLDER = 0x40000000;
  private static final int ONLY_FOLDERS = 0x1000000;

  private static final int WATCHED =
      MODIFY
          | ATTRIB
          | CLOSE_WRITE
          | MOVED_FROM
          | MOVED_TO
          | CREATE
          | DELETE
          | DELETE_SELF
          | MOVE_SELF
          | ONLY_FOLDERS;

  static final int NO_ENTRY = 2;
  static final int NOT_READABLE = 5;
  static final int NO_ACCESS = 13;
  static final int NOT_A_FOLDER = 20;
  static final int NOT_CONNECTED = 107;
  static final int STALE = 116;
  static final int TOO_MANY_INSTANCES = 24;
  static final int TOO_MANY_WATCHES = 28;
  private static final int AGAIN = 11;
  private static final int INTERRUPTED = 4;

  private static final int FLAGS = 02000000 | 04000; // close on exec, do not block
  private static final int HEAD_BYTES = 16;
  private static final int BUFFER_BYTES = 64 << 10;
  private static final short READABLE = 1;
  private static final int FOREVER = -1;

  private static final Linker LINKER = Linker.nativeLinker();
  private static final MemoryLayout STATE = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO =
      STATE.varHandle(MemoryLayout.PathElement.groupElement("errno"));
  private static final MemoryLayout POINTER = ValueLayout.ADDRESS;
  private static final MemoryLayout INT = ValueLayout.JAVA_INT;
  private static final MemoryLayout LONG = ValueLayout.JAVA_LONG;

  private final Call addWatch = Call.of("inotify_add_watch", INT, INT, POINTER, INT);
  private final Call removeWatch = Call.of("inotify_rm_watch", INT, INT, INT);
  private final Call readBytes = Call.of("read", LONG, INT, POINTER, LONG);
  private final Call writeBytes = Call.of("write", LONG, INT, POINTER, LONG);
  private final Call poll = Call.of("poll", INT, POINTER, LONG, INT);
  private final Call closeFile = Call.of("close", INT, INT);

  private final int events;
  private final int stop;
  private volatile boolean isReading;

  /** A call to the operating system failed. */
  static final class Failed extends IOException {
    private static final long serialVersionUID = 1;
    private final int number;

    Failed(String call, int number) {
      super(call + ": errno " + number);
      this.number = number;
    }

    int number() {
      return number;
    }
  }

  /** A function of the C library. */
  private record Call(String name, MethodHandle handle) {
    static Call of(String name, MemoryLayout result, MemoryLayout... parameters) {
      MethodHandle handle =
          LINKER.downcallHandle(
              LINKER.defaultLookup().findOrThrow(name),
              FunctionDescriptor.of(result, parameters),
              Linker.Option.captureCallState("errno"));
      return new Call(name, handle);
    }

    /** Its result, or the negative number of its error. */
    long run(Object... arguments) {
      try (var arena = Arena.ofConfined()) {
        MemorySegment state = arena.allocate(STATE);
        var all = new ArrayList<Object>(List.of(state));
        all.addAll(List.of(arguments));
        long result = ((Number) handle.invokeWithArguments(all)).longValue();
        return result < 0 ? -(int) ERRNO.get(state, 0L) : result;
      } catch (Throwable impossible) {
        throw new IllegalStateException(name, impossible);
      }
    }

    long require(Object... arguments) throws Failed {
      long result = run(arguments);
      if (result < 0) {
        throw new Failed(name, (int) -result);
      }
      return result;
    }
  }

  /** One change in a watched folder. */
  @FunctionalInterface
  interface Listener {
    void event(int watch, int mask, String name);
  }

  /** Whether the C library has it: that of Linux only. */
  static boolean isIn(SymbolLookup library) {
    return library.find("inotify_init1").isPresent();
  }

  Inotify() throws Failed {
    events = (int) Call.of("inotify_init1", INT, INT).require(FLAGS);
    stop = (int) Call.of("eventfd", INT, INT, INT).require(0, FLAGS);
  }

  /** Watches a folder; one that is watched already keeps its number. */
  int add(Path folder) throws Failed {
    try (var arena = Arena.ofConfined()) {
      return (int) addWatch.require(events, arena.allocateFrom(folder.toString()), WATCHED);
    }
  }

  /** A watch that is gone already is no failure. */
  void remove(int watch) {
    removeWatch.run(events, watch);
  }

  /** Hands over events until {@link #stop}; {@code batch} is called after each group of them. */
  void read(Listener listener, Runnable batch) throws Failed {
    try (var arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(BUFFER_BYTES, Integer.BYTES);
      MemorySegment both = arena.allocate(2L * Long.BYTES, Long.BYTES);
      while (true) {
        watchFor(both, 0, events);
        watchFor(both, 1, stop);
        try {
          poll.require(both, 2L, FOREVER);
          if (both.get(ValueLayout.JAVA_SHORT, Long.BYTES + Integer.BYTES + 2L) != 0) {
            return;
          }
          isReading = true;
          long count = readBytes.require(events, buffer, (long) BUFFER_BYTES);
          parse(buffer, count, listener);
          isReading = false;
          batch.run();
        } catch (Failed failed) {
          if (failed.number() != AGAIN && failed.number() != INTERRUPTED) {
            throw failed;
          }
          isReading = false;
        }
      }
    }
  }

  /** Whether events are there that were not read. */
  boolean hasEvents() {
    try (var arena = Arena.ofConfined()) {
      MemorySegment one = arena.allocate(2L * Long.BYTES, Long.BYTES);
      watchFor(one, 0, events);
      return poll.run(one, 1L, 0) != 0;
    }
  }

  /** Whether events were read that the listener has not got yet. */
  boolean isReading() {
    return isReading;
  }

  private static void watchFor(MemorySegment both, int index, int file) {
    long at = (long) index * Long.BYTES;
    both.set(ValueLayout.JAVA_INT, at, file);
    both.set(ValueLayout.JAVA_SHORT, at + Integer.BYTES, READABLE);
    both.set(ValueLayout.JAVA_SHORT, at + Integer.BYTES + Short.BYTES, (short) 0);
  }

  /** Each is: watch, mask, cookie, length of the name, the name with zeros after it. */
  private static void parse(MemorySegment buffer, long count, Listener listener) {
    for (long at = 0; at + HEAD_BYTES <= count; ) {
      int watch = buffer.get(ValueLayout.JAVA_INT, at);
      int mask = buffer.get(ValueLayout.JAVA_INT, at + 4);
      int length = buffer.get(ValueLayout.JAVA_INT, at + 12);
      String name = length == 0 ? "" : buffer.getString(at + HEAD_BYTES, StandardCharsets.UTF_8);
      listener.event(watch, mask, name);
      at += HEAD_BYTES + length;
    }
  }

  /** Has {@link #read} return. */
  void stop() {
    try (var arena = Arena.ofConfined()) {
      MemorySegment one = arena.allocateFrom(ValueLayout.JAVA_LONG, 1L);
      writeBytes.run(stop, one, (long) Long.BYTES);
    }
  }

  /** Only when no thread reads any longer. */
  @Override
  public void close() {
    closeFile.run(events);
    closeFile.run(stop);
  }
}
