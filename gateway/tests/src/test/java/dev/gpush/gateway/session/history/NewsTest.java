package dev.gpush.gateway.session.history;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class NewsTest {
  private final News news = new News();

  @Test
  void eachLineIsTakenOnce() {
    news.add("1 commit");
    news.add("2 commits");
    news.add("1 commit");

    assertEquals(List.of("2 commits", "1 commit"), news.take());
    assertEquals(List.of(), news.take());
    news.add("1 commit");
    assertEquals(List.of("1 commit"), news.take());
  }

  @Test
  void whatDoesNotChangeIsSaidOneTime() {
    news.addOnce("no git");
    assertEquals(List.of("no git"), news.take());
    news.addOnce("no git");
    assertEquals(List.of(), news.take());
  }

  @Test
  void isBounded() {
    IntStream.range(0, 100).forEach(number -> news.add("line " + number));
    List<String> taken = news.take();
    assertEquals(20, taken.size());
    assertEquals("line 99", taken.getLast());
  }
}
