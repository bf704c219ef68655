package dev.gpush.templates.schema;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import org.junit.jupiter.api.Test;

final class ReferencePageTest {
  /** Surefire starts in the module's folder. */
  private static final Path PAGE = Path.of("..", "docs", "reference", "configuration.md");

  @Test
  void thePageIsWhatTheSchemaSays() throws Exception {
    if (Boolean.getBoolean("reference.fix")) {
      Files.createDirectories(PAGE.getParent());
      Files.writeString(PAGE, ReferencePage.markdown());
    }

    assertEquals(
        ReferencePage.markdown(),
        Files.readString(PAGE),
        "write it again: mvn -pl :gpush-templates test -Dreference.fix=true");
  }

  @Test
  void everyKeyIsThereOnceAndSaysWhatItDoes() {
    for (Place place : Place.values()) {
      var paths = new HashSet<String>();
      for (Key key : Schema.of(place)) {
        assertTrue(paths.add(key.path()), key::path);
        assertTrue(key.isSupported() != key.says().isEmpty(), key::path);
      }
    }
  }

  @Test
  void theKeysOfTheProductPageAreKnown() {
    // product.md section 2, both columns.
    for (String key :
        "nodes gpus backends python python.conda python.modules mounts outputs lease.for lease.idle"
            .concat(
                " lease.at-end run.resume image setup.run setup.when home secrets env workspace")
            .split(" ", -1)) {
      assertTrue(Schema.find(Place.PROJECT, key).isPresent(), key);
    }
    for (String key : "defaults.backends defaults.notify backends.*.kind".split(" ", -1)) {
      assertTrue(Schema.find(Place.PERSON, key).isPresent(), key);
    }
  }
}
