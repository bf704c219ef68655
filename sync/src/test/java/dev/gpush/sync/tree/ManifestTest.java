package dev.gpush.sync.tree;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;

final class ManifestTest {
  private static final int PATHS = 3000;

  /** The first two are in one bucket. */
  private static final List<String> HASHES =
      List.of("ab0" + "1".repeat(61), "ab0" + "2".repeat(61), "3".repeat(64));

  @Test
  void pathsAreSortedByBytes() {
    var paths = List.of("a", "a.b", "a/b", "ab", "z", "\uFFFD", "\uD83D\uDE00");
    var entries = new HashMap<String, Entry>();
    paths.forEach(path -> entries.put(path, new Entry.Link("x")));
    assertEquals(paths, new ArrayList<>(Manifest.of(entries).entries().keySet()));
  }

  /** Written once more, from docs/technical/sync.md. */
  @Test
  void theRootIsThatOfTheSpecification() {
    var entries = new TreeMap<String, Entry>();
    entries.put("src/a.py", new Entry.File(1, true, Hashes.of(new byte[] {'1'})));
    entries.put("ein/Wörtchen", new Entry.File(1, false, Hashes.of(new byte[] {'2'})));
    entries.put("l", new Entry.Link("src/a.py"));
    var buckets = new TreeMap<Long, String>();
    entries.forEach(
        (path, entry) -> {
          var crc = new CRC32();
          crc.update(path.getBytes(StandardCharsets.UTF_8));
          buckets.merge(
              crc.getValue() % 1024, path + "\0" + entry.key() + "\n", (one, next) -> one + next);
        });
    var hashed = new ByteArrayOutputStream();
    buckets.forEach(
        (number, lines) -> {
          hashed.write((int) (number >> 8));
          hashed.write((int) (number & 0xff));
          hashed.writeBytes(Hashes.bytes(Hashes.of(lines.getBytes(StandardCharsets.UTF_8))));
        });
    assertEquals(Hashes.of(hashed.toByteArray()), Manifest.of(entries).root());
    assertEquals(Hashes.of(new byte[0]), Manifest.empty().root());
  }

  @Test
  void aDraftHasTheRootOfAllItsEntries() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    var random = new Random(seed);
    Manifest manifest = Manifest.empty();
    var entries = new HashMap<String, Entry>();
    for (int round = 0; round < 60; round++) {
      Manifest.Draft draft = manifest.draft();
      int changes = random.nextInt(4) == 0 ? random.nextInt(PATHS) : random.nextInt(6);
      for (int i = 0; i < changes; i++) {
        String path = "d" + random.nextInt(9) + "/f" + random.nextInt(PATHS / 9);
        if (random.nextInt(3) == 0) {
          draft.remove(path);
          entries.remove(path);
        } else {
          Entry entry = entry(random);
          draft.put(path, entry);
          entries.put(path, entry);
        }
      }
      Manifest next = draft.done();
      assertEquals(Manifest.of(entries).root(), next.root(), "seed " + seed + ", round " + round);
      assertEquals(entries, new HashMap<>(next.entries()), "seed " + seed);
      assertEquals(entries.size(), next.size(), "seed " + seed);
      assertEquals(differing(manifest, next), next.differences(manifest), "seed " + seed);
      assertEquals(differing(manifest, next), manifest.differences(next), "seed " + seed);
      for (String hash : HASHES) {
        assertEquals(having(hash, entries), Set.copyOf(next.pathsOf(hash)), "seed " + seed);
      }
      manifest = next;
    }
  }

  private static Entry entry(Random random) {
    int kind = random.nextInt(4);
    return kind == 3
        ? new Entry.Link("t" + random.nextInt(3))
        : new Entry.File(kind, random.nextBoolean(), HASHES.get(kind));
  }

  private static List<String> differing(Manifest one, Manifest other) {
    var paths = new TreeSet<String>(Manifest.ORDER);
    paths.addAll(one.entries().keySet());
    paths.addAll(other.entries().keySet());
    paths.removeIf(path -> one.get(path).equals(other.get(path)));
    return List.copyOf(paths);
  }

  private static Set<String> having(String hash, Map<String, Entry> entries) {
    return entries.entrySet().stream()
        .filter(each -> each.getValue() instanceof Entry.File(_, _, var own) && own.equals(hash))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  @Test
  void aNodesAnswerThatIsNoHashNamesNoPath() {
    assertEquals(List.of(), Manifest.empty().pathsOf("../x"));
  }

  @Test
  void whatIsPutBackIsNoChange() {
    Entry entry = new Entry.Link("x");
    Manifest manifest = Manifest.of(Map.of("a", entry, "b", entry));
    Manifest.Draft same = manifest.draft();
    same.put("a", new Entry.Link("x"));
    same.remove("c");
    assertSame(manifest, same.done());
    Manifest.Draft other = manifest.draft();
    other.put("a", new Entry.Link("y"));
    assertNotEquals(manifest, other.done());
  }
}
