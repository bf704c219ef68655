package dev.gpush.gateway.session.history;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import dev.gpush.sync.git.GitFolder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Keeps a git repository around the workspace of the editors' node that follows the one on this
 * machine, and brings commits that are made there home. A thread looks for changes on both sides;
 * it never holds up a save or a command. Thread-safe.
 */
public final class SessionHistory implements AutoCloseable {
  /** Two looks at files here. */
  private static final Duration LOOK = Duration.ofSeconds(2);

  /** Looks for each question to the agent, which wakes it and the line. */
  private static final int LOOKS_BEFORE_QUESTION = 5;

  /** After something that failed, unless one of the sides changes. */
  private static final int LOOKS_BEFORE_RETRY = 15;

  private static final Duration LAST_LIMIT = Duration.ofSeconds(30);

  private static final int SHORT_HASH = 9;
  private static final String HEADS = "refs/heads/";

  private static final System.Logger LOG = System.getLogger("gpush.history");

  private final Session session;
  private final Source source;
  private final Tasks tasks;

  /** Two commands may want to end the session. */
  private final ReentrantLock lastLooks = new ReentrantLock();

  private volatile String words = "";
  private final News news = new News();

  // guarded by this
  private Optional<Task<?, ?>> looking = Optional.empty();

  // of the thread
  private String lastHere = "";
  private String lastThere = "";

  /** Before anything is sent: where it stands, and what came home. */
  private String standing = "";

  private int looksToWait;
  private int looksToQuestion;

  /**
   * What it needs of a session.
   *
   * @param name of the session
   * @param node the editors', which has the repository
   * @param link to it
   * @param workspace on it
   * @param closed why nothing may be sent now
   */
  public record Session(
      String name,
      int node,
      Supplier<Link> link,
      Supplier<String> workspace,
      Supplier<Optional<String>> closed) {}

  /**
   * The workspace on this machine, which may become a repository, or cease to be one, at any time.
   * The history of a repository above it would not fit its files.
   *
   * @param most the number of commits that are sent at first, the newest; empty: all, up to 1 GiB
   */
  public record Source(Path root, Optional<Integer> most) {
    Optional<LaptopRepository> repository(Tasks tasks) {
      return GitFolder.at(root).map(folder -> new LaptopRepository(folder, most, tasks));
    }
  }

  public SessionHistory(Session session, Source source, Tasks tasks) {
    this.session = session;
    this.tasks = tasks.group("history");
    this.source = source;
  }

  public synchronized void start() {
    if (looking.isEmpty()) {
      looking = Optional.of(tasks.fork("history", this::run));
    }
  }

  private synchronized Optional<Task<?, ?>> stop() {
    Optional<Task<?, ?>> running = looking;
    looking = Optional.empty();
    running.ifPresent(Task::cancel);
    return running;
  }

  /** Tells a user what came or failed since someone was told last. */
  public void say(Talk talk) {
    news.take().forEach(talk::say);
  }

  /** Where it stands, as a sentence without its end, or nothing. */
  public String words() {
    return words;
  }

  private boolean run() throws InterruptedException {
    // What the one before was stopped in is done again.
    lastHere = "";
    while (true) {
      try {
        step();
      } catch (GpushException _) {
        // The node is away; what its history lacks then is sent later.
      } catch (RuntimeException bug) {
        LOG.log(System.Logger.Level.ERROR, "history is not sent, session=" + session.name(), bug);
        words = there() + " has no history, because it failed; see gpush gateway logs";
        looksToWait = LOOKS_BEFORE_RETRY;
      }
      Thread.sleep(LOOK);
    }
  }

  private void step() throws InterruptedException {
    if (session.closed().get().isPresent() || !isUp()) {
      return;
    }
    Optional<LaptopRepository> here = source.repository(tasks);
    if (here.isPresent()) {
      follow(here.get());
    } else {
      lastHere = "";
      words = "";
    }
  }

  private void follow(LaptopRepository here) throws InterruptedException {
    looksToWait--;
    looksToQuestion--;
    String stampHere = here.stamp();
    boolean isNewHere = !stampHere.equals(lastHere);
    if (!isNewHere && looksToQuestion > 0) {
      return;
    }
    looksToQuestion = LOOKS_BEFORE_QUESTION;
    String stampThere = node().stamp();
    if (!isNewHere && stampThere.equals(lastThere) && looksToWait > 0) {
      return;
    }
    looksToWait = Integer.MAX_VALUE;
    lastHere = stampHere;
    lastThere = stampThere;
    standing = "";
    try {
      exchange(here);
    } catch (HistoryStopped stopped) {
      String before = words;
      if (stampThere.isEmpty() && standing.isEmpty() && stopped.getCause() == null) {
        news.failed(there() + " has no git repository, because " + stopped.why());
      }
      words =
          there()
              + " has no history of now, because "
              + stopped.why()
              + (standing.isEmpty() ? "" : "; " + standing);
      looksToWait = LOOKS_BEFORE_RETRY;
      if (!words.equals(before)) {
        // Not at each retry: a reason may last for days.
        LOG.log(
            System.Logger.Level.INFO,
            "history is not sent, session=" + session.name() + " why=" + stopped.why());
      }
    }
  }

  private String there() {
    return "node " + session.node();
  }

  private boolean isUp() {
    return session.link().get().state() instanceof LinkState.Up;
  }

  private NodeRepository node() {
    return new NodeRepository(session.link().get(), session.workspace().get());
  }

  private void exchange(LaptopRepository here) throws HistoryStopped, InterruptedException {
    NodeRepository node = node();
    NodeRepository.State there = node.look();
    Optional<LaptopRepository.State> state = here.read(there);
    if (state.isEmpty()) {
      words = "";
      return;
    }
    CommitsThere.Home home =
        there.isMade() ? home(here, node).bringHome(there) : CommitsThere.Home.NOTHING;
    news.here(home.came());
    List<String> notHome = notHome(home);
    notHome.forEach(news::failed);
    List<String> said =
        Stream.concat(home.came().stream().map(CommitsThere.Came::words), notHome.stream())
            .toList();
    standing = CommitsThere.branches(there).isEmpty() ? "" : text(state.get(), there, said);
    NodeRepository.State before = there;
    Optional<LaptopRepository.State> first =
        there.commits().isEmpty() ? here.first(state.get()) : Optional.empty();
    if (first.isPresent()) {
      before = send(here, node, first.get(), there, home.tips());
      standing = text(state.get(), before, said);
      words = standing;
      state = here.read(before);
    }
    if (state.isEmpty()) {
      return;
    }
    NodeRepository.State now = send(here, node, state.get(), before, home.tips());
    var tips = CommitsThere.branches(now).values();
    // A commit that was made meanwhile is the next look's.
    lastThere = here.present(tips).containsAll(tips) ? now.stamp() : "";
    words = text(state.get(), now, said);
    if (!notHome.isEmpty()) {
      looksToWait = LOOKS_BEFORE_RETRY;
    }
  }

  private List<String> notHome(CommitsThere.Home home) {
    return home.whyNot().entrySet().stream()
        .map(
            each ->
                "commits of "
                    + there()
                    + " are not here as "
                    + each.getKey()
                    + ", because "
                    + each.getValue())
        .toList();
  }

  private CommitsThere home(LaptopRepository here, NodeRepository node) {
    return new CommitsThere(session.name(), session.node(), here, node::give);
  }

  private NodeRepository.State send(
      LaptopRepository here,
      NodeRepository node,
      LaptopRepository.State state,
      NodeRepository.State there,
      Set<String> home)
      throws HistoryStopped, InterruptedException {
    Set<String> had = there.commits();
    Set<String> wanted = new HashSet<>(state.commits());
    Set<String> known;
    if (Set.copyOf(state.shallow()).containsAll(there.shallow())) {
      wanted.removeAll(had);
      known = here.present(had);
    } else { // The history begins earlier now: what the node has may lack its parents.
      known = here.files(there.refs());
    }
    return node.take(
        state,
        home,
        wanted.isEmpty()
            ? Optional.empty()
            : Optional.of(to -> here.pack(wanted, known, state.shallow(), to)));
  }

  private String text(LaptopRepository.State state, NodeRepository.State there, List<String> came) {
    String head = there.head().orElse("");
    String commit = there.refs().getOrDefault(head, head);
    boolean isSame = head.equals(state.head()) && commit.equals(state.tip());
    var all = new ArrayList<String>();
    all.add(
        there()
            + " is "
            + (head.startsWith(HEADS) ? "on " + head.substring(HEADS.length()) + ", " : "at ")
            + commit.substring(0, Math.min(SHORT_HASH, commit.length()))
            + (isSame ? ", as here" : ""));
    if (Set.copyOf(there.shallow()).equals(Set.copyOf(state.shallow()))) {
      state.cut().ifPresent(cut -> all.add("its history is cut, " + cut));
    } else if (!there.shallow().isEmpty()) {
      all.add("older commits are not there yet");
    }
    all.addAll(came);
    return String.join("; ", all);
  }

  /**
   * Brings commits home for the last time, for a command that ends the session; what is on its way
   * is stopped. Where the session goes on, {@link #start} does, too.
   *
   * @return why that was not possible, as a clause; empty when nothing is lost
   */
  public Optional<String> bringHome() throws InterruptedException {
    Optional<Task<?, ?>> running = stop();
    if (running.isPresent()) {
      running.get().join();
    }
    Optional<LaptopRepository> here = source.repository(tasks);
    if (here.isEmpty()) { // Commits that are only there are among the unsaved files.
      return Optional.empty();
    }
    try {
      return tasks.within(LAST_LIMIT, "last look", () -> lastLook(here.get()));
    } catch (TimeoutException slow) {
      return Optional.of("the node does not answer in time");
    } catch (GpushException away) {
      return Optional.of("its agent does not answer");
    } catch (InterruptedException stop) {
      if (tasks.isClosed()) { // Another command ends the session, and has looked.
        return Optional.empty();
      }
      throw stop;
    }
  }

  private Optional<String> lastLook(LaptopRepository here) throws InterruptedException {
    lastLooks.lockInterruptibly();
    try {
      return lookAlone(here);
    } finally {
      lastLooks.unlock();
    }
  }

  private Optional<String> lookAlone(LaptopRepository here) throws InterruptedException {
    if (!isUp() || node().stamp().isEmpty()) {
      return Optional.empty();
    }
    try {
      NodeRepository node = node();
      NodeRepository.State there = node.look();
      CommitsThere.Home home = home(here, node).bringHome(there);
      node.isHome(home.tips());
      return home.whyNot().values().stream().findFirst();
    } catch (HistoryStopped stopped) {
      return Optional.of(stopped.why());
    }
  }

  @Override
  public void close() {
    tasks.close();
  }
}
