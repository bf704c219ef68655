package dev.gpush.gateway.session.lifecycle;

import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.session.Sessions.Ending;
import dev.gpush.core.talk.Talk;
import dev.gpush.gateway.session.live.LiveSession;
import dev.gpush.gateway.session.live.SessionWork;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The user's consent to the end of one session: runs in progress, commits and files that would be
 * lost are asked about. A command that asks again, because time has passed, only asks about what is
 * new. Of one command and one thread.
 */
public final class EndConsent implements AutoCloseable {
  /** Answers the question about runs: to end them is what the user asked for. */
  private static final String YES = "--yes";

  /**
   * Answers the question about files, where {@code --yes} is not enough, and the one about runs.
   */
  private static final String DISCARD = "--discard";

  private static final String LOOKING = "looking for files that exist only on the nodes";

  private final boolean isDiscarding;
  private final Talk talk;
  private final NodeTrashes trashes;
  private final Set<Integer> runs = new HashSet<>();
  private final Set<String> answered = new HashSet<>();
  private Optional<LiveSession> asked = Optional.empty();

  /**
   * @param isDiscarding the answer was given beforehand, by {@value #DISCARD}
   */
  public EndConsent(boolean isDiscarding, Talk talk) {
    this.isDiscarding = isDiscarding;
    this.talk = talk;
    this.trashes = new NodeTrashes(talk);
  }

  /**
   * Brings commits home, and asks about what would be lost.
   *
   * @throws dev.gpush.core.failure.GpushException the user does not agree
   */
  void ask(LiveSession session) throws InterruptedException {
    if (isEnding(session)) {
      return;
    }
    asked = Optional.of(session);
    if (!isDiscarding) {
      askAboutRuns(session);
    }
    Optional<String> lostCommits;
    try (Talk.Step _ = talk.step("looking for commits that were made on the nodes")) {
      lostCommits = bringCommitsHome(session);
    }
    if (!isDiscarding) {
      lostCommits.ifPresent(question -> confirm(session, question));
      unsavedFiles(session).ifPresent(question -> confirm(session, question));
    }
  }

  private Optional<String> unsavedFiles(LiveSession session) throws InterruptedException {
    try (Talk.Step _ = talk.step(LOOKING)) {
      return UnsavedFiles.question(session, trashes);
    }
  }

  /** What it would ask about; has no effect. */
  public static Ending look(LiveSession session, Talk talk) throws InterruptedException {
    List<Ending.Going> running = session.workIfAny().map(EndConsent::going).orElse(List.of());
    if (isEnding(session)) {
      return new Ending(running, Optional.empty());
    }
    try (Talk.Step _ = talk.step(LOOKING)) {
      return new Ending(
          running, UnsavedFiles.words(session, (_, trash) -> NodeTrashes.isSmall(trash)));
    }
  }

  private static List<Ending.Going> going(SessionWork work) {
    return work.running().stream()
        .map(run -> new Ending.Going(run.number(), work.words(List.of(run)).getFirst()))
        .toList();
  }

  /** The user agreed when its end began, or it ended by itself, also while this command asks. */
  private static boolean isEnding(LiveSession session) {
    SessionState state = session.entry().state();
    return session.isOver()
        || session.isClosed()
        || state == SessionState.LEAKED
        || state == SessionState.RELEASING;
  }

  private void confirm(LiveSession session, String question) {
    if (!answered.contains(question) && !isEnding(session)) {
      talk.confirm(question, DISCARD);
      answered.add(question);
    }
  }

  /** Names the runs that would be ended. */
  private void askAboutRuns(LiveSession session) {
    Optional<SessionWork> work = session.workIfAny();
    List<RunView> running = work.map(SessionWork::running).orElse(List.of());
    List<Integer> numbers = running.stream().map(RunView::number).toList();
    if (runs.containsAll(numbers)) {
      return;
    }
    talk.confirm(
        String.join(", ", work.orElseThrow().words(running))
            + (running.size() == 1 ? " is" : " are")
            + " in progress on "
            + session.name()
            + "; stop "
            + (running.size() == 1 ? "it" : "them")
            + " and give the nodes back?",
        YES);
    runs.addAll(numbers);
  }

  /** What to ask if that is not possible and they would be lost. */
  private static Optional<String> bringCommitsHome(LiveSession session)
      throws InterruptedException {
    Optional<SessionWork> work = session.workIfAny();
    Optional<String> problem = work.isPresent() ? work.get().bringCommitsHome() : Optional.empty();
    return problem
        .filter(_ -> !session.backend().capabilities().keepsFiles())
        .map(
            why ->
                "commits that were made on the nodes of "
                    + session.name()
                    + " could not be looked for and would be lost, because "
                    + why
                    + "; give the nodes back?");
  }

  /** A session that was asked about and is not given back goes on. */
  @Override
  public void close() {
    asked
        .filter(session -> !session.isClosed())
        .flatMap(LiveSession::workIfAny)
        .ifPresent(SessionWork::goesOn);
  }
}
