package dev.gpush.gateway.session.history;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

final class NewsTest {
  private final News news = new News();

  private void here(boolean isNew, String... lines) {
    news.here(List.of(lines).stream().map(line -> new CommitsThere.Came(line, isNew)).toList());
  }

  @Test
  void commitsAreSaidOnceAsTheyAreThen() {
    here(true, "1 commit");
    here(true, "2 commits");
    assertEquals(List.of("2 commits"), news.take());
    here(false, "2 commits");
    assertEquals(List.of(), news.take());
  }

  @Test
  void whatWasTakenMeanwhileIsNotSaid() {
    here(true, "1 commit");
    here(false);
    assertEquals(List.of(), news.take());
  }

  @Test
  void aReasonIsSaidOneTime() {
    news.failed("no git");
    assertEquals(List.of("no git"), news.take());
    news.failed("no git");
    assertEquals(List.of(), news.take());
  }
}
