package dev.gpush.sync.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.sync.node.NodeHolds.Deviation;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Hashes;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Version;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The rules about what is written, deleted and left alone, as tables. A tree is written as {@code
 * path=content path@=target path*=content}: file, link, executable; a deviation as {@code
 * path:missing}, {@code path:mode}, {@code path:changed} or {@code path:content-it-has-now}.
 */
class SyncPlanTest {

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      nullValues = "-",
      textBlock =
          """
          # what               | wanted    | held     | now        | stays | writes | deletes | blobs
          nothing              | -         | -        | -          | -     | -      | -       | -
          first push           | a=1 b=2   | -        | -          | -     | a b    | -       | 1 2
          no change            | a=1 l@=a  | a=1 l@=a | -          | -     | -      | -       | -
          changed here         | a=2 b=1   | a=1 b=1  | -          | -     | a      | -       | 2
          deleted here         | a=1       | a=1 b=2  | -          | -     | -      | b       | -
          renamed here         | b=1       | a=1      | -          | -     | b      | a       | -
          two of one content   | a=1 b=1   | -        | -          | -     | a b    | -       | 1
          made executable here | a*=1      | a=1      | -          | -     | a      | -       | -
          link moved           | l@=b      | l@=a     | -          | -     | l      | -       | -
          file becomes link    | a@=b      | a=1      | -          | -     | a      | -       | -
          folder becomes file  | p=1       | p/q=2    | -          | -     | p      | p/q     | 1
          file becomes folder  | p/q=1     | p=2      | -          | -     | p/q    | p       | 1
          missing there        | a=1       | a=1      | a:missing  | -     | a      | -       | 1
          missing there, other | a=1 b=1   | a=1 b=1  | a:missing  | -     | a      | -       | -
          missing and unwanted | -         | a=1      | a:missing  | -     | -      | a       | -
          missing, and stays   | a=1       | a=1      | a:missing  | a     | -      | -       | -
          mode changed there   | a=1       | a=1      | a:mode     | -     | a      | -       | -
          edited, and replaced | a=1       | a=1      | a:changed  | -     | a      | -       | 1
          edited, and stays    | a=1       | a=1      | a:changed  | a     | -      | -       | -
          stays, node is older | a=2       | a=1      | -          | a     | -      | -       | -
          edited both, equally | a=2       | a=1      | a:2        | -     | a      | -       | -
          edited, unwanted     | -         | a=1      | a:changed  | -     | -      | a       | -
          edited is no source  | b=1       | a=1      | a:changed  | -     | b      | a       | 1
          """)
  void plans(
      String what,
      String wanted,
      String held,
      String now,
      String stays,
      String writes,
      String deletes,
      String blobs) {
    SyncPlan plan = SyncPlan.plan(tree(wanted), holds(held, now), words(stays), Set.of());

    assertEquals(words(writes), new TreeSet<>(plan.writes().keySet()), "writes");
    assertEquals(words(deletes), new TreeSet<>(plan.deletes()), "deletes");
    assertEquals(words(stays), new TreeSet<>(plan.entries().keySet()), "stays");
    var hashes = new TreeSet<String>();
    words(blobs).forEach(content -> hashes.add(hash(content)));
    assertEquals(hashes, new TreeSet<>(plan.blobs()), "blobs");
  }

  /** What a gateway elsewhere has sent may be nowhere else. */
  @Test
  void aKeepingPlanKeepsAllThatItReplacesOrDeletes() {
    NodeHolds holds = holds("a=1 b=1 c=1", "b:9");
    SyncPlan plan = SyncPlan.plan(tree("a=2 c=1 new=1"), holds, Set.of(), Set.of());

    assertEquals(Set.of(), plan.trash());
    assertEquals(Set.of("a", "b"), plan.keeping(holds).trash());
  }

  @Test
  void whatIsStagedThereIsNotSentAgain() {
    NodeHolds holds = holds(null, null);
    var staged =
        new NodeHolds(
            holds.generation(), holds.manifest(), Map.of(), Set.of(hash("1")), "", Set.of(), false);
    assertEquals(
        Set.of(hash("2")), SyncPlan.plan(tree("a=1 b=2"), staged, Set.of(), Set.of()).blobs());
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "a=1 A=2, A a",
        "d/x=1 D/y=2, D d",
        "d/x=1 d/X=1 e=1, d/X d/x",
        "d/x=1 d/y=2, -",
        "Ü=1 ü=2, Ü ü",
        "d=1 D/x=1, D d"
      })
  void namesThatFoldClashOnlyWhereTheNodeFoldsThem(String wanted, String clashes) {
    NodeHolds plain = holds(null, null);
    var folding =
        new NodeHolds(plain.generation(), plain.manifest(), Map.of(), Set.of(), "", Set.of(), true);

    assertEquals(List.of(), SyncPlan.plan(tree(wanted), plain, Set.of(), Set.of()).clashes());
    assertEquals(
        words(clashes),
        new TreeSet<>(SyncPlan.plan(tree(wanted), folding, Set.of(), Set.of()).clashes()));
  }

  /** Whatever stays is not touched, and the manifest becomes the wanted one, for any states. */
  @Test
  void everyPlanLeadsThereAndTouchesNothingThatStays() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.out.println("SyncPlanTest seed " + seed);
    var random = new Random(seed);
    for (int i = 0; i < 3_000; i++) {
      Manifest wanted = random(random);
      Manifest base = random(random);
      var deviations = new HashMap<String, Deviation>();
      var stays = new HashSet<String>();
      for (String path : base.entries().keySet()) {
        switch (random.nextInt(4)) {
          case 0 -> deviations.put(path, deviation("missing", base.get(path)));
          case 1 -> deviations.put(path, deviation("changed", base.get(path)));
          case 2 -> deviations.put(path, deviation("" + random.nextInt(3), base.get(path)));
          default -> {}
        }
        if (random.nextInt(3) == 0) {
          stays.add(path);
        }
      }
      var holds =
          new NodeHolds(
              new Generation(1, base.root()), base, deviations, Set.of(), "", Set.of(), false);

      SyncPlan plan = SyncPlan.plan(wanted, holds, stays, Set.of());

      String facts = "seed " + seed + " round " + i;
      var after = new HashMap<String, Entry>(base.entries());
      plan.deletes().forEach(after::remove);
      after.putAll(plan.writes());
      after.putAll(plan.entries());
      assertEquals(wanted, Manifest.of(after), facts);
      assertTrue(Collections.disjoint(plan.writes().keySet(), stays), facts);
    }
  }

  @Test
  void entriesSurviveTheWire() {
    for (Entry entry : tree("a=1 b*=2 c@=../x").entries().values()) {
      var item = new ArrayList<Object>(List.of("path"));
      item.addAll(entry.wire());
      assertEquals(Optional.of(entry), Entry.parse(Json.array(item).items()));
    }
    for (String wrong :
        List.of("[]", "[\"a\",\"file\",0,1,\"xyz\"]", "[\"a\",\"dir\",0,1,\"\"]", "[1,2,3,4,5]")) {
      assertEquals(Optional.empty(), Entry.parse(Json.parse(wrong).items()));
    }
  }

  // ----

  private static Manifest random(Random random) {
    var entries = new HashMap<String, Entry>();
    for (String path : List.of("a", "b", "d/a", "d/b", "d/e/f")) {
      if (random.nextBoolean()) {
        entries.put(path, entry("" + random.nextInt(3), random.nextInt(4) == 0));
      }
    }
    return Manifest.of(entries);
  }

  private static TreeSet<String> words(String text) {
    return text == null ? new TreeSet<>() : new TreeSet<>(List.of(text.strip().split(" +")));
  }

  static String hash(String content) {
    return Hashes.of(content.getBytes(StandardCharsets.UTF_8));
  }

  private static Entry entry(String content, boolean executable) {
    return new Entry.File(content.length(), executable, hash(content));
  }

  private static Manifest tree(String text) {
    var entries = new HashMap<String, Entry>();
    for (String word : words(text)) {
      String path = word.substring(0, word.indexOf('='));
      String content = word.substring(word.indexOf('=') + 1);
      if (path.endsWith("@")) {
        entries.put(path.substring(0, path.length() - 1), new Entry.Link(content));
      } else if (path.endsWith("*")) {
        entries.put(path.substring(0, path.length() - 1), entry(content, true));
      } else {
        entries.put(path, entry(content, false));
      }
    }
    return Manifest.of(entries);
  }

  private static NodeHolds holds(String text, String deviations) {
    var found = new HashMap<String, Deviation>();
    for (String word : words(deviations)) {
      String path = word.substring(0, word.indexOf(':'));
      String now = word.substring(word.indexOf(':') + 1);
      found.put(path, deviation(now, tree(text).get(path)));
    }
    Manifest manifest = tree(text);
    return new NodeHolds(
        new Generation(3, manifest.root()), manifest, found, Set.of(), "t", Set.of("t"), false);
  }

  private static Deviation deviation(String now, Optional<Entry> was) {
    return switch (now) {
      case "missing" -> Deviation.missing();
      case "changed" -> new Deviation(new Version.Unread(""), 1);
      case "mode" -> {
        Entry.File file = (Entry.File) was.orElseThrow();
        yield new Deviation(
            new Version.Known(new Entry.File(file.size(), !file.executable(), file.hash())), 1);
      }
      default -> new Deviation(new Version.Known(entry(now, false)), 1);
    };
  }
}
