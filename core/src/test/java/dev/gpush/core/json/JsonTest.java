package dev.gpush.core.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "null|null",
        " true |true",
        "-0|0",
        "12|12",
        "-7|-7",
        "1.5|1.5",
        "1e3|1000.0",
        "9223372036854775807|9223372036854775807",
        "[]|[]",
        "{ }|{}",
        "[1, [2]]|[1,[2]]",
        "{\"a\" : {\"b\":[]}}|{\"a\":{\"b\":[]}}",
        "\"\\u0041\\n\\/\"|\"A\\n/\"",
        "\"\\ud83d\\ude00\"|\"\uD83D\uDE00\"",
        "\"\\ud83d\"|\"\\ud83d\"",
      })
  void readsAndWrites(String text, String written) {
    assertEquals(written, Json.parse(text).write());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "nul",
        "01",
        "1.",
        ".5",
        "1e",
        "-",
        "+1",
        "\"",
        "\"\\x\"",
        "\"\\u12\"",
        "[1,]",
        "[1 2]",
        "{\"a\"}",
        "{a:1}",
        "{\"a\":1,}",
        "{\"a\":1,\"a\":2}",
        "1 2",
        "'a'",
        "\"\t\"",
        "NaN",
        "Infinity"
      })
  void refusesWhatIsNotJson(String text) {
    assertThrows(JsonSyntaxException.class, () -> Json.parse(text));
  }

  @Test
  void refusesNestingThatWouldBreakTheStack() {
    String deep = "[".repeat(100_000);

    var refused = assertThrows(JsonSyntaxException.class, () -> Json.parse(deep));

    assertTrue(refused.getMessage().contains("nested deeper"), refused.getMessage());
  }

  @Test
  void readsFieldsOfTheWrongTypeAsAbsent() {
    Json json = Json.parse("{\"n\": \"text\", \"t\": 3, \"l\": 2147483648, \"z\": null}");

    assertTrue(json.number("n").isEmpty());
    assertTrue(json.text("t").isEmpty());
    assertTrue(json.get("z").isEmpty());
    assertTrue(json.integer("l").isEmpty());
    assertEquals(Optional.of(-3), Json.object("n", -3).integer("n"));
    assertEquals(Optional.of(-3.0), Json.object("n", -3).real("n"));
    assertEquals(Optional.of(0.5), Json.object("n", 0.5).real("n"));
    assertTrue(Json.object("n", "0.5").real("n").isEmpty());
    assertEquals(List.of(), json.items("n"));
    assertEquals(Json.object(), json.object("t"));
  }

  @Test
  void everyValueSurvivesBothForms() {
    long seed = Long.getLong("gpush.seed", System.identityHashCode(this));
    System.err.println("JsonTest seed " + seed + " (-Dgpush.seed)");
    var random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      Json value = value(random, 0);

      assertEquals(value, Json.parse(value.write()), () -> "seed " + seed);
      assertEquals(value, Json.parse(value.pretty()), () -> "seed " + seed);
    }
  }

  @Test
  void anyTextIsReadOrRefusedNeverMore() {
    long seed = Long.getLong("gpush.seed", System.identityHashCode(this));
    System.err.println("JsonTest seed " + seed + " (-Dgpush.seed)");
    var random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      var text = new StringBuilder(value(random, 0).write());
      for (int change = 0; change < 3; change++) {
        int at = random.nextInt(text.length());
        text.setCharAt(at, "{}[]\",:\\0e.-ntf \u0001".charAt(random.nextInt(17)));
      }
      try {
        Json.parse(text.toString());
      } catch (JsonSyntaxException refused) {
        assertTrue(refused.getMessage().contains("at offset"), () -> "seed " + seed);
      }
    }
  }

  private static Json value(Random random, int depth) {
    return switch (random.nextInt(depth > 4 ? 5 : 7)) {
      case 0 -> new Json.Null();
      case 1 -> new Json.Bool(random.nextBoolean());
      case 2 -> new Json.Int(random.nextLong());
      case 3 -> new Json.Real(random.nextGaussian());
      case 4 -> new Json.Text(text(random));
      case 5 -> {
        var items = new ArrayList<Json>();
        for (int i = random.nextInt(5); i > 0; i--) {
          items.add(value(random, depth + 1));
        }
        yield new Json.Arr(items);
      }
      default -> {
        var fields = new LinkedHashMap<String, Json>();
        for (int i = random.nextInt(5); i > 0; i--) {
          fields.put(text(random), value(random, depth + 1));
        }
        yield new Json.Obj(fields);
      }
    };
  }

  private static String text(Random random) {
    var text = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      text.append((char) random.nextInt(random.nextBoolean() ? 0x80 : 0x10000));
    }
    return text.toString();
  }
}
