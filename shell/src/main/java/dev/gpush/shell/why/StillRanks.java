package dev.gpush.shell.why;

import dev.gpush.core.text.SessionCommands;
import dev.gpush.shell.why.Explanation.Code;
import dev.gpush.shell.why.RunExplanation.Subject;
import dev.gpush.shell.why.StackGroup.Member;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What ranks wait for of which none was seen to move. A rank is named as the one that the others
 * wait for only where more than half of all ranks are at one place, and never from what is not
 * known.
 */
record StillRanks(Subject subject, LookedRanks ranks, SessionCommands commands) {
  /** Places that are worth a look. */
  private static final int LOOKS = 2;

  Explanation explain() {
    List<StackGroup> groups = ranks.groups();
    String text = begin() + ranks.places();
    if (ranks.areLoaderBound()) {
      return of(
          Code.LOADER_BOUND,
          text,
          "look at the processes of the data loader, which are shown below the stack",
          logs(groups.getFirst().members().getFirst()));
    }
    if (groups.size() == 1) {
      return of(Code.SAME_PLACE, text, together(groups.getFirst()));
    }
    if (groups.stream().allMatch(StackGroup::isCollective)) {
      return collectives(text, groups);
    }
    Optional<StackGroup> most = most();
    boolean hasCollective = groups.getFirst().isCollective();
    if (most.isPresent() && (most.get().isCollective() || !hasCollective)) {
      return of(Code.RANK_APART, text, apart(most.get()));
    }
    return of(
        Code.PLACES_DIFFER,
        text + (hasCollective ? ". A collective waits until all ranks of its group call it" : ""),
        "compare "
            + groups.getFirst().spot().place()
            + " with "
            + groups.get(1).spot().place()
            + ": which ranks are expected there?",
        logs(groups.getLast().members().getFirst()));
  }

  String begin() {
    return ranks.standStill()
        ? subject.says("stands still: ", "stand still: ")
        : subject.label() + " did not move" + ranks.looked() + ": ";
  }

  /** More than half of all ranks, at one place. */
  private Optional<StackGroup> most() {
    return ranks.groups().stream().filter(group -> 2 * group.size() > ranks.all()).findFirst();
  }

  private Explanation collectives(String text, List<StackGroup> groups) {
    StackGroup first = groups.getFirst();
    Optional<StackGroup> other =
        groups.stream()
            .filter(group -> !group.spot().name().equals(first.spot().name()))
            .findFirst();
    if (other.isPresent()) {
      return of(
          Code.COLLECTIVES_DIFFER,
          text,
          "all ranks of one process group must make the same collective calls in the same order:"
              + " compare "
              + first.spot().place()
              + " with "
              + other.get().spot().place());
    }
    return of(
        Code.PLACES_DIFFER,
        text,
        "compare "
            + first.spot().place()
            + " with "
            + groups.get(1).spot().place()
            + ": are they the same call of one process group?");
  }

  /** Where the others are, if they are in a collective. */
  private String[] apart(StackGroup most) {
    var lines = new ArrayList<String>();
    List<StackGroup> odd =
        ranks.groups().stream()
            .filter(group -> !group.equals(most) && !group.isCollective())
            .limit(LOOKS)
            .toList();
    for (StackGroup group : odd) {
      lines.add(
          "look at "
              + group.spot().place()
              + ", where "
              + group.names()
              + (group.size() == 1 ? " is" : " are")
              + (most.isCollective()
                  ? ": " + most.spot().name() + " waits until all ranks of its group call it"
                  : ", and at " + most.spot().place() + ", where most are"));
    }
    Member member = odd.getFirst().members().getFirst();
    if (member.stack().process().state().equals("D")) {
      lines.add(commands.of("exec --on " + member.node().index() + " -- df -h ."));
    }
    lines.add(logs(member));
    return lines.toArray(new String[0]);
  }

  private String[] together(StackGroup group) {
    if (!group.isCollective() || group.size() == 1) {
      return new String[] {"look at " + group.spot().place()};
    }
    if (!ranks.standStill()) {
      return new String[] {
        "all ranks are there: if they still are later, the network or a GPU may not answer"
      };
    }
    return new String[] {
      "all ranks are there, so the network or a GPU may not answer",
      subject.run().isEmpty()
          ? ""
          : commands.of("stop " + subject.run().get()) + ", then " + commands.of("check --level 2")
    };
  }

  /** That some ranks are not known forbids to judge the others. */
  Explanation partly() {
    String begin =
        ranks.areSeenOnce()
            ? subject.says("was seen only once: ", "were seen only once: ")
            : subject.label()
                + " did not move as far as "
                + (subject.isOne() ? "it was" : "they were")
                + " seen: ";
    return Explanation.of(
        Code.PARTLY_SEEN,
        begin + ranks.places(),
        subject.again(commands) + " looks at all of them again",
        ranks.silent().isEmpty() ? "" : commands.of("nodes"));
  }

  /** Some were stopped or have ended, and no other one moves. */
  Explanation gone() {
    var parts = new ArrayList<String>(ranks.ends());
    if (ranks.groups().isEmpty()) {
      parts.addAll(ranks.unknown());
    }
    String text =
        ranks.groups().isEmpty()
            ? subject.label() + ": " + String.join("; ", parts)
            : begin() + ranks.places();
    return of(
        Code.RANK_GONE,
        text,
        ranks.stopped().isEmpty() ? logs(ranks.gone().getFirst()) : wakes(commands, ranks));
  }

  static String wakes(SessionCommands commands, LookedRanks ranks) {
    Member first = ranks.stopped().getFirst();
    return commands.of(
        "exec --on " + first.node().index() + " -- kill -CONT " + first.stack().process().pid());
  }

  /** With what is left to do: to end it, or to see whether it goes on. */
  private Explanation of(Code code, String text, String... remedies) {
    var lines = new ArrayList<String>(List.of(remedies));
    boolean isHopeless =
        code == Code.RANK_APART || code == Code.COLLECTIVES_DIFFER || code == Code.PLACES_DIFFER;
    if (!ranks.standStill() && code != Code.RANK_GONE) {
      lines.add(subject.again(commands) + " in a minute: a long step has gone on by then");
    } else if (isHopeless) {
      subject.run().ifPresent(run -> lines.add(commands.of("stop " + run)));
    }
    return Explanation.of(code, text, lines.toArray(new String[0]));
  }

  private String logs(Member member) {
    return subject
        .run()
        .map(
            run ->
                commands.of(
                    "logs " + run + member.rank().map(rank -> " --rank " + rank).orElse("")))
        .orElse("");
  }
}
