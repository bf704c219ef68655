package dev.gpush.shell.top;

import dev.gpush.core.text.Worded;
import java.util.List;
import java.util.Optional;

/**
 * What the user has chosen to see.
 *
 * @param filter only rows that have this text
 * @param opened the node that is shown in detail
 * @param cursor which node Enter opens, counted in the list
 * @param scroll lines of a detail that are above the screen
 * @param typing what is being typed
 */
public record TopView(
    Sort sort,
    String filter,
    Optional<Integer> opened,
    int cursor,
    int scroll,
    Optional<Typing> typing) {
  private static final int PAGE = 10;
  private static final int LONGEST = 60;

  /** By what rows are sorted, the largest first; nodes by their number. */
  public enum Sort implements Worded {
    NODE,
    UTIL,
    MEM,
    POWER,
    TEMP;

    Sort next() {
      return switch (this) {
        case NODE -> UTIL;
        case UTIL -> MEM;
        case MEM -> POWER;
        case POWER -> TEMP;
        case TEMP -> NODE;
      };
    }
  }

  /** A filter, or the number of a node. */
  public record Typing(boolean isFilter, String text) {}

  public static TopView of(Sort sort, Optional<Integer> opened) {
    return new TopView(sort, "", opened, 0, 0, Optional.empty());
  }

  /** After a key. */
  TopView after(Keystroke key, List<Integer> nodes) {
    if (typing.isPresent()) {
      return typed(typing.get(), key, nodes);
    }
    return switch (key.kind()) {
      case UP -> moved(-1, nodes);
      case DOWN -> moved(1, nodes);
      case PAGE_UP -> moved(-PAGE, nodes);
      case PAGE_DOWN -> moved(PAGE, nodes);
      case ENTER, RIGHT -> nodes.isEmpty() || opened.isPresent() ? this : open(at(nodes));
      case ESCAPE, LEFT, BACKSPACE -> closed();
      case INTERRUPT -> this;
      case LETTER -> letter(key.letter(), nodes);
    };
  }

  private int at(List<Integer> nodes) {
    return nodes.get(Math.min(cursor, nodes.size() - 1));
  }

  private TopView letter(int letter, List<Integer> nodes) {
    return switch (letter) {
      case 'k' -> moved(-1, nodes);
      case 'j' -> moved(1, nodes);
      case ' ' -> moved(PAGE, nodes);
      case 's' -> new TopView(sort.next(), filter, opened, cursor, scroll, typing);
      case '/' -> typing(new Typing(true, filter));
      default -> letter >= '0' && letter <= '9' ? digit(letter - '0', nodes) : this;
    };
  }

  private TopView digit(int digit, List<Integer> nodes) {
    boolean isOne = nodes.stream().allMatch(node -> node < 10);
    if (!isOne) {
      return typing(new Typing(false, "" + digit));
    }
    return nodes.contains(digit) ? open(digit) : this;
  }

  private TopView typed(Typing typed, Keystroke key, List<Integer> nodes) {
    return switch (key.kind()) {
      case ENTER -> entered(typed, nodes);
      case ESCAPE ->
          new TopView(sort, typed.isFilter() ? "" : filter, opened, 0, 0, Optional.empty());
      case BACKSPACE -> {
        String text = typed.text();
        int end = text.isEmpty() ? 0 : text.offsetByCodePoints(text.length(), -1);
        yield typing(new Typing(typed.isFilter(), text.substring(0, end)));
      }
      case LETTER -> {
        boolean isTaken =
            typed.text().length() < LONGEST
                && (typed.isFilter() || Character.isDigit(key.letter()));
        yield isTaken
            ? typing(new Typing(typed.isFilter(), typed.text() + Character.toString(key.letter())))
            : this;
      }
      case UP, DOWN, LEFT, RIGHT, PAGE_UP, PAGE_DOWN, INTERRUPT -> this;
    };
  }

  private TopView entered(Typing typed, List<Integer> nodes) {
    TopView done = new TopView(sort, filter, opened, cursor, scroll, Optional.empty());
    if (typed.isFilter()) {
      return new TopView(sort, typed.text(), opened, 0, 0, Optional.empty());
    }
    return nodes.stream()
        .filter(node -> ("" + node).equals(typed.text()))
        .findFirst()
        .map(done::open)
        .orElse(done);
  }

  private TopView typing(Typing now) {
    return new TopView(sort, filter, opened, cursor, scroll, Optional.of(now));
  }

  private TopView open(int node) {
    return new TopView(sort, filter, Optional.of(node), cursor, 0, Optional.empty());
  }

  private TopView closed() {
    return opened.isPresent()
        ? new TopView(sort, filter, Optional.empty(), cursor, 0, typing)
        : new TopView(sort, "", opened, cursor, 0, typing);
  }

  private TopView moved(int by, List<Integer> nodes) {
    if (opened.isPresent()) {
      return new TopView(sort, filter, opened, cursor, Math.max(0, scroll + by), typing);
    }
    int most = Math.max(0, nodes.size() - 1);
    int next = Math.clamp(Math.min(cursor, most) + (long) by, 0, most);
    return new TopView(sort, filter, opened, next, scroll, typing);
  }

  /** Scrolled no further than there are lines. */
  TopView within(int mostScroll) {
    return scroll <= mostScroll
        ? this
        : new TopView(sort, filter, opened, cursor, Math.max(0, mostScroll), typing);
  }

  /** The filter that applies now, also while it is typed. */
  String shownFilter() {
    return typing.filter(Typing::isFilter).map(Typing::text).orElse(filter);
  }
}
