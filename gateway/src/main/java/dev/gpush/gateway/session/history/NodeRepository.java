package dev.gpush.gateway.session.history;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.link.BlockingStream;
import dev.gpush.link.Link;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** The repository around a node's workspace, through the agent's builtin {@code history}. */
final class NodeRepository {
  private static final int MOST_ANSWER = 64 << 20;

  /** A node must not name objects of the laptop in another way. */
  private static final Pattern HASH = Pattern.compile("[0-9a-f]{40}|[0-9a-f]{64}");

  private final Link link;
  private final String root;

  NodeRepository(Link link, String root) {
    this.link = link;
    this.root = root;
  }

  /**
   * What a node has.
   *
   * @param head empty before it was made
   * @param apart commits that no branch leads to, of older stashes and tags made there, by names
   *     for their refs here
   * @param hasOnlyFirst what was sent first, and not yet the rest
   * @param stamp as {@link #stamp} gave it just before
   */
  record State(
      boolean isMade,
      Optional<String> head,
      Map<String, String> refs,
      Map<String, String> apart,
      List<String> shallow,
      boolean hasOnlyFirst,
      String stamp) {
    State {
      refs = Map.copyOf(refs);
      apart = Map.copyOf(apart);
      shallow = shallow.stream().filter(each -> HASH.matcher(each).matches()).toList();
    }

    /** Commits to which HEAD or a ref leads there. */
    Set<String> commits() {
      var all = new HashSet<>(refs.values());
      head.filter(each -> HASH.matcher(each).matches()).ifPresent(all::add);
      return all;
    }

    static State of(Json.Obj answer) throws HistoryStopped {
      Optional<String> stopped = answer.text("stopped");
      if (stopped.isPresent()) {
        throw new HistoryStopped(stopped.get());
      }
      return new State(
          answer.flag("made"),
          answer.text("head"),
          answer.object("refs").textMap(),
          answer.object("apart").textMap(),
          answer.texts("shallow"),
          answer.flag("first"),
          answer.text("stamp").orElse(""));
    }
  }

  /** Changes when someone has committed, switched or stashed; empty while nothing was made. */
  String stamp() throws InterruptedException {
    return link.call("history", Json.object()) instanceof Json.Obj said
        ? said.text("stamp").orElse("")
        : "";
  }

  State look() throws HistoryStopped, InterruptedException {
    return State.of(ask(Json.object("do", "look"), to -> {}));
  }

  /** Says that these commits are home, so the repository may go with the session. */
  void isHome(Collection<String> commits) throws HistoryStopped, InterruptedException {
    ask(Json.object("do", "look", "home", List.copyOf(commits)), to -> {});
  }

  /** Writes a pack, or nothing. */
  @FunctionalInterface
  interface Pack {
    void write(OutputStream to) throws IOException, HistoryStopped, InterruptedException;
  }

  /**
   * Has it follow what this machine has.
   *
   * @param home commits that are here by now
   * @param pack empty when it lacks nothing
   */
  State take(LaptopRepository.State state, Collection<String> home, Optional<Pack> pack)
      throws HistoryStopped, InterruptedException {
    Json.Obj asked =
        state
            .asked()
            .with("do", "take")
            .with("home", List.copyOf(home))
            .with("pack", pack.isPresent());
    return State.of(ask(asked, pack.orElse(to -> {})));
  }

  /** Reads a pack. */
  @FunctionalInterface
  interface Unpack {
    void read(InputStream from) throws HistoryStopped, InterruptedException;
  }

  /** Has it pack commits for someone who has others. */
  void give(Collection<String> wanted, Collection<String> had, Unpack unpack)
      throws HistoryStopped, InterruptedException {
    Json.Obj asked =
        Json.object("do", "give", "want", List.copyOf(wanted), "have", List.copyOf(had));
    try (BlockingStream stream = open()) {
      Optional<HistoryStopped> unsent = send(stream, asked, to -> {});
      if (unsent.isPresent()) {
        throw unsent.get();
      }
      unpack.read(stream.output(0));
      stream.awaitClose();
    } catch (GpushException broken) {
      throw away(broken);
    }
  }

  private BlockingStream open() throws InterruptedException {
    return link.openReady(Link.builtin("history").with("stdin", true));
  }

  private Json.Obj ask(Json.Obj asked, Pack pack) throws HistoryStopped, InterruptedException {
    try (BlockingStream stream = open()) {
      Optional<HistoryStopped> unsent = send(stream, asked, pack);
      byte[] answer = stream.output(0).readNBytes(MOST_ANSWER);
      stream.awaitClose();
      // What failed here says more than the node, which only sees that the pack was cut off.
      if (unsent.filter(own -> own.getCause() == null).isPresent()) {
        throw unsent.get();
      }
      if (answer.length > 0
          && Json.parse(new String(answer, StandardCharsets.UTF_8)) instanceof Json.Obj said) {
        return said;
      }
      throw unsent.orElseGet(() -> new HistoryStopped("its agent does not answer"));
    } catch (IOException | GpushException | JsonSyntaxException broken) {
      throw away(broken);
    }
  }

  /** A node that says no may read nothing more. */
  private Optional<HistoryStopped> send(BlockingStream stream, Json.Obj asked, Pack pack)
      throws InterruptedException {
    byte[] text = asked.with("root", root).write().getBytes(StandardCharsets.UTF_8);
    try (OutputStream to = stream.input()) {
      to.write(ByteBuffer.allocate(Integer.BYTES).putInt(text.length).array());
      to.write(text);
      pack.write(to);
      return Optional.empty();
    } catch (HistoryStopped stopped) {
      return Optional.of(stopped);
    } catch (IOException broken) {
      return Optional.of(away(broken));
    }
  }

  private static HistoryStopped away(Exception broken) {
    return new HistoryStopped("its agent does not answer", broken);
  }
}
